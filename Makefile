# From nothing: `make demo` shows bgfmt at work, `make check` tries it quickly, `make test` wholly, `make docs` builds
# its reference. Each makes its own .venv; PYTHON chooses the interpreter (3.11 or later), PYTEST_ARGS adds to what
# pytest is told: make test PYTEST_ARGS=tests/formats
PYTHON ?= python3
BIN := .venv/bin
SOURCES := conftest.py bgfmt tests benchmarks plugins docs
# three workers for two processors; a worker that is done takes tests from another
PYTEST := $(BIN)/python -m pytest -n logical --dist worksteal
# hundreds of tests start Python anew, which should not compile its modules each time
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test test-core lowest lint style docs site-docs fuzz dist bench clean

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

# Style, floors and the quick part of the suite.
check: style
	$(PYTEST) -m "not slow" $(PYTEST_ARGS)

# Everything; mypy is one of the tests. With compiled kernels, as a wheel has them; `check` and `test-core` use numba.
test: style .venv/web
	kernels="$$($(BIN)/python hatch_build.py)" && BGFMT_KERNELS="$$kernels" $(PYTEST) $(PYTEST_ARGS)

# The quick part without extras and plugins, which are deleted from a copy in build/core; what numba compiled there stays.
DELETED := bgfmt/extras tests/extras plugins
test-core: .venv/tested
	@mkdir -p build/core
	@find build/core -type f ! -path '*/__pycache__/*' ! -path '*/.pytest_cache/*' -delete
	@git ls-files -z | tar -c --null --ignore-failed-read -T - | tar -x -C build/core
	@cd build/core && rm -rf $(DELETED)
	cd build/core && PYTHONPATH=$(CURDIR)/build/core ../../$(PYTEST) -m "not slow" $(PYTEST_ARGS)

lint: style
	$(BIN)/mypy

style: .venv/tested
	$(BIN)/ruff format --check --quiet $(SOURCES)
	$(BIN)/ruff check --quiet $(SOURCES)
	$(BIN)/lint-imports --no-cache --no-logo

docs: .venv/installed
	$(BIN)/python docs/make_reference.py

# The documents as a site with search, in build/site.
site-docs: .venv/installed
	$(PIP) -e '.[docs]'
	$(BIN)/python docs/make_site.py

# The quick part with the lowest versions of the dependencies that pyproject.toml allows.
lowest:
	$(PYTHON) -m venv .venv/lowest
	$(PYTHON) tests/support/lowest.py > .venv/lowest/versions.txt
	.venv/lowest/bin/pip install --quiet --requirement .venv/lowest/versions.txt --editable .
	.venv/lowest/bin/python -m pytest -n logical --dist worksteal -m "not slow" $(PYTEST_ARGS)

# An hour of mutations: make fuzz FUZZ_EXAMPLES=100000
FUZZ_EXAMPLES ?= 100000
fuzz: .venv/tested
	$(BIN)/python -m tests.fuzz.mutations $(FUZZ_EXAMPLES)

# What is published, into dist/: source archive, wheel with compiled kernels (four minutes), npm package. The same bytes from the same commit.
dist: export BGFMT_LEVELS = all
dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
dist: .venv/tested
	rm -rf dist
	$(BIN)/python -m hatchling build -t sdist -t wheel
	$(BIN)/python -m twine check --strict dist/*.tar.gz dist/*.whl
	@if command -v npm >/dev/null; then npm pack ./plugins/js --pack-destination dist; fi

bench: .venv/installed
	$(BIN)/python -m benchmarks

.venv/created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bgfmt needs Python 3.11 or later")'
	$(PYTHON) -m venv .venv
	@touch $@

# without byte code, which Python writes for the few modules that are used
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

.venv/installed: .venv/created pyproject.toml
	$(PIP) -e .
	@$(BIN)/python -m compileall -q bgfmt  # as pip does of a package it copies, so that the first command is quick
	@touch $@

.venv/tested: .venv/installed
	$(PIP) -e '.[large,serve,remote,test,lint,docs,oracles]'
	$(PIP) --no-deps ankigammon  # its reader of text; no windows
	@touch $@

# what the tests of plugins/js, of plugins/descriptions and of the probe page need from npm; without npm those tests are skipped
.venv/web: .venv/created tests/web/package-lock.json
	@if command -v npm >/dev/null; then npm ci --prefix tests/web --no-progress --silent; fi
	@touch $@

clean:
	rm -rf .venv demo dist build tests/web/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
