"""Dice: where they lie and what their top faces show."""
