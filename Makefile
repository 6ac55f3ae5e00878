# Two commands do everything from nothing: `make demo` and `make test`.
# Each makes its own .venv; PYTHON chooses the interpreter (3.11 or later).
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint check fuzz bench clean

demo: .venv/installed
	@mkdir -p demo
	$(BIN)/bgfmt cube "0 1 0 0 1 / 0 1 1"
	@cp fixtures/golden/gnubg/os_p06.bd demo/gnubg_os0.bd
	$(BIN)/bgfmt info demo/gnubg_os0.bd
	$(BIN)/bgfmt convert demo/gnubg_os0.bd demo/bearoff.ijf --force
	$(BIN)/bgfmt lookup demo/bearoff.ijf "0 2 2 2 0 4"
	$(BIN)/bgfmt solve two-sided 6x6 -o demo/gnubg_ts0.bd --force
	$(BIN)/bgfmt verify demo/gnubg_os0.bd demo/gnubg_ts0.bd
	$(BIN)/bgfmt play demo/gnubg_ts0.bd "0 1 0 0 1 / 0 1 1" 21
	$(BIN)/bgfmt cube "0 1 0 0 1 / 0 1 1" --away 3-5
	$(BIN)/bgfmt matches fixtures/matches/lazybg-match1.mat

test: .venv/tested .venv/web lint
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: .venv/tested
	$(BIN)/ruff format --check bgfmt tests benchmarks plugins
	$(BIN)/ruff check bgfmt tests benchmarks plugins
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# An hour of mutations: make fuzz FUZZ_EXAMPLES=100000
FUZZ_EXAMPLES ?= 100000
fuzz: .venv/tested
	$(BIN)/python -m tests.fuzz.mutations $(FUZZ_EXAMPLES)

bench: .venv/installed
	$(BIN)/python -m benchmarks

.venv/created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bgfmt needs Python 3.11 or later")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: .venv/created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@$(BIN)/python -m compileall -q bgfmt  # as pip does of a package it copies, so that the first command is quick
	@touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[serve,remote,test,lint,oracles]'
	@touch $@

# what the tests of plugins/js and of the probe page need from npm; without npm those tests are skipped
.venv/web: .venv/created tests/web/package-lock.json
	@if command -v npm >/dev/null; then npm ci --prefix tests/web --no-progress --silent; fi
	@touch $@

clean:
	rm -rf .venv demo tests/web/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
