"""Towers and dice on a painted board, seen from above: tags on their tops give place and heading."""
