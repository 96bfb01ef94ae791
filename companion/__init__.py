"""A referee for games that people play on a real table."""
