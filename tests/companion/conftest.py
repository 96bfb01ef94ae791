"""Lets the tests of this folder import `counting` (a small game) and `virtual` (tables without disk or clock)."""
