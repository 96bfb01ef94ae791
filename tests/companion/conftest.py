"""Lets the tests of this folder import `counting`, the smallest game that has everything a game may have."""
