"""``python -m companion``."""

from companion.app.cli import main

main()
