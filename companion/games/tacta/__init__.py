"""Tacta."""
