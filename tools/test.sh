#!/usr/bin/env bash
# Everything that must hold, from an empty folder on: install, lint and types, tests. docs/ci.md has the budgets.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Debian keeps brokers where only root looks.
export PATH="$PATH:/usr/local/sbin:/usr/sbin"

began=$SECONDS
tools/prepare.sh test
installed=$SECONDS
tools/lint.sh
linted=$SECONDS
LEDGER="[[\"install\", $((installed - began)), 240], [\"lint and types\", $((linted - installed)), 90]]"
export LEDGER
echo "==> tests"
cores=$(nproc)
# Whole files are dealt out, in the order of their names: their tests share tables, renders and a browser.
exec .venv/bin/python -m pytest -n $((cores < 4 ? cores : 4)) --dist loadfile --no-loadscope-reorder "$@"
