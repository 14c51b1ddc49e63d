# `make demo` and `make test` set up everything they need; `make check test` is what CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup demo test check bench docs clean
help:
	@echo "make demo | test | check | bench | docs | clean"

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -U pip -c constraints.txt
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install -q -c constraints.txt -e '.[all,dev]'
	touch $@

demo: setup
	$(BIN)/rushes demo -o demo

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

bench: setup
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

docs: setup
	$(BIN)/python -m rushes.report.metrics_page docs/metrics.md

clean:
	rm -rf $(VENV) demo build dist
