# `make demo` and `make test` need nothing but make and a Python of 3.11 or newer; both create .venv.

# The newest Python that can make a virtual environment; `make demo PYTHON=/path/to/python3.12` takes another one.
PYTHONS := python3.14 python3.13 python3.12 python3.11 python3
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON = $(shell for each in $(PYTHONS); do "$$each" -c '$(USABLE)' 2>/dev/null && echo "$$each" && break; done)

BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
LOCK_TOOL := $(BIN)/uv pip compile --quiet --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command 'make lock'
LOCK := $(LOCK_TOOL) --universal --constraint constraints.txt
INSTALLED := .venv/installed.txt
INSTALLED_DEV := .venv/installed-dev.txt
NEEDS := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all test-tools lint lock results docs screenshots clean

help:
	@echo 'make demo    see what tagweave does, on the bundled sample, in a minute or two'
	@echo 'make test    run the tests, but for those marked as slow'
	@echo 'make test-all  run all tests, slow ones and those of test-tools, too'
	@echo 'make test-tools  run doccano and Label Studio (from PyPI) with what tagweave exchanges with them'
	@echo 'make lint    ruff, mypy, the order of imports, and the workflows of continuous integration'
	@echo 'make lock    write locks/*.txt anew, after a change of constraints.txt: digests of all packages'
	@echo 'make docs    build the site of the documentation in build/site, and check it: examples, links, names'
	@echo 'make results  write the pages of docs/results anew: ONLY=PAGE one of them'
	@echo 'make screenshots  take the pictures of the annotation server anew (Chromium, a Chinese font)'
	@echo 'make clean   remove .venv, caches and build products'

demo: $(INSTALLED)
	$(BIN)/tagweave demo

# A test whose program or package is missing is skipped, and named at the end; with SKIPS=never it fails.
test: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow' $(if $(filter never,$(SKIPS)),--no-skips)

test-all: $(INSTALLED_DEV) test-tools
	$(BIN)/python -m pytest -n 2 --dist worksteal $(if $(filter never,$(SKIPS)),--no-skips)

# doccano and Label Studio, each in an environment of its own, and exactly as locked; doccano needs Python 3.11.
build/tools/%: locks/%.txt | $(INSTALLED_DEV)
	$(BIN)/python -m venv --clear $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement $<
	@touch $@

test-tools: build/tools/doccano build/tools/label-studio
	TAGWEAVE_TOOLS='$(CURDIR)/build/tools' $(BIN)/python -m pytest tests/tools

# Ruff remembers by the content of a file, but the order of imports also depends on which other files there are.
lint: $(INSTALLED_DEV)
	$(BIN)/ruff check --no-cache
	$(BIN)/ruff format --check
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --quiet .github

# All that constraints.txt pins, for all systems and versions of Python, with digests that pip --require-hashes checks.
lock: $(INSTALLED_DEV)
	$(LOCK) pyproject.toml --extra dev --output-file locks/dev.txt
	$(LOCK) pyproject.toml --extra annotate --extra serve --output-file locks/server.txt
	$(LOCK) locks/release.in --output-file locks/release.txt
	$(LOCK_TOOL) locks/doccano.in --output-file locks/doccano.txt
	$(LOCK_TOOL) locks/label-studio.in --output-file locks/label-studio.txt

docs: $(INSTALLED_DEV)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/docs

# ONLY='check race' names pages, ONLY=--list says what would run.
results: $(INSTALLED_DEV)
	$(BIN)/python -m reproductions.results $(ONLY)

screenshots: $(INSTALLED_DEV)
	$(BIN)/python -m reproductions screenshots

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A change of the requirements updates the environment in place; `make clean` before `make` builds it anew.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo 'found no Python of 3.11 or newer with venv; install one, or say make PYTHON=...' >&2; exit 1; }
	"$(PYTHON)" -m venv .venv

$(INSTALLED): $(NEEDS) | $(BIN)/python
	$(INSTALL) --editable .
	@touch $@

# uv takes a quarter of pip's time for so many packages; pip installs them where uv cannot (it does not read pip.conf).
$(INSTALLED_DEV): $(NEEDS) | $(BIN)/python
	$(INSTALL) uv
	UV_FIND_LINKS="$$PIP_FIND_LINKS" $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt \
		--editable '.[dev]' || $(INSTALL) --editable '.[dev]'
	@touch $@ $(INSTALLED)
