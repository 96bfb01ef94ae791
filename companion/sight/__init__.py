"""Joins a game to its readers: what lies where, and who reads it."""
