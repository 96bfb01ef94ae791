"""The games, one folder each, strangers to each other."""
