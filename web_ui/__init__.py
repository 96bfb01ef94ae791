"""Pages in a browser: draws views, sends commands, knows no rule."""
