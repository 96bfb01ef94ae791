"""``python -m companion``."""

from companion.app.cli import main

if __name__ == "__main__":  # a camera's own process imports this module too
    main()
