"""The top floor: the command line, settings, and the one place where everything is joined."""
