# Plain make, python3 and git are enough; everything lands in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-editors check format lint types bench clean

help:            ## list the targets
	@grep -E '^[a-z-]+: *.*## ' $(MAKEFILE_LIST) | sed -E 's/: *.*## /\t/' | expand -t 16

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("lsptools needs Python 3.10 or newer; try: make PYTHON=python3.12" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)   ## install into .venv and watch a rename, from evidence to undo
	$(BIN)/python -m examples.demo

test: $(STAMP)   ## install and run the whole test suite
	$(BIN)/python -m pytest -n 2 -q

test-editors: $(STAMP) ## rename, undo and find in real editors, as far as they are installed (tests/editors)
	$(BIN)/python -m pytest -q -rs tests/editors

check: $(STAMP)  ## the one gate: format, lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

format: $(STAMP) ## rewrite the sources in the house's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)  ## time and compare with language servers (fetches wheels and peers)
	$(BIN)/python -m benchmarks

clean:           ## remove everything that make made
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis benchmarks/work
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
