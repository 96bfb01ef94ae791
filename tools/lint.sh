#!/usr/bin/env bash
# What can be seen without running the program: style, format, types, import contracts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
echo "==> ruff"
.venv/bin/python -m ruff check .
.venv/bin/python -m ruff format --check .
echo "==> mypy"
.venv/bin/python -m mypy
echo "==> import contracts"
contracts=$(.venv/bin/lint-imports --no-logo) || { printf '%s\n' "$contracts"; exit 1; }
printf '%s\n' "${contracts##*$'\n'}"
