"""Bytes on wires to observations, cues to bytes. Speaks protocol tada/1 and knows no game."""
