#!/usr/bin/env bash
# What can be seen without running the program: style, format, types, import contracts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
echo "==> ruff"
.venv/bin/python -m ruff check .
.venv/bin/python -m ruff format --check .
echo "==> mypy"
.venv/bin/python -m mypy
# What runs on the boards: modules without a package there.
MYPYPATH=firmware_bridge/firmware/micropython .venv/bin/python -m mypy --strict --explicit-package-bases \
    --config-file= firmware_bridge/firmware/micropython/tada_{pad,patterns,wire}.py
echo "==> import contracts"
contracts=$(.venv/bin/lint-imports --no-logo) || { printf '%s\n' "$contracts"; exit 1; }
printf '%s\n' "${contracts##*$'\n'}"
