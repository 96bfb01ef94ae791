"""Lets the tests of this folder import `tada_table`, the table on which they play."""
