# The commands of this project; `make` alone lists them. Each prepares what it needs and may be run again at any time.
.PHONY: help demo test check lint lock wheel clean
SHELL := /bin/bash

help:
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

demo: ## play a whole table by itself: make demo ARGS="--players 4 --speed 5"
	@tools/prepare.sh run
	@.venv/bin/companion demo $(ARGS)

test: ## install what the tests need, then lint, types and all tests, as CI does
	@tools/test.sh

check: ## the quick part of the tests: lint, types, architecture, core and games
	@tools/prepare.sh test
	@tools/lint.sh
	@.venv/bin/python -m pytest -q tests/architecture tests/companion/core tests/companion/games

lint: ## style, format, types and import contracts
	@tools/prepare.sh test
	@tools/lint.sh

lock: ## take the newest versions that pyproject.toml allows into requirements.lock
	@tools/prepare.sh run
	@.venv/bin/python tools/lock.py

wheel: ## build the wheel into dist/
	@tools/prepare.sh run
	@.venv/bin/python -m pip wheel -qq --no-deps -w dist .
	@ls dist/*.whl

clean: ## remove the environment and everything that was built or cached
	@rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
