# make train   from a fresh clone to a trained parser
# make test    from a fresh clone to a tested one; make slowtest runs the tests that take minutes
# make docs    the site of docs/, in site/
# Another Python, another place:   make PYTHON=python3.12 VENV=/tmp/venv train

PYTHON = python3
VENV = .venv

.DELETE_ON_ERROR:
.PHONY: help train test slowtest lint format docs results dist clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile | expand -t 14

train: $(VENV)/installed  ## train on the sample treebank that comes with the package
	$(VENV)/bin/python train.py trainer.epochs=10

test: $(VENV)/installed-test  ## run the tests
	$(VENV)/bin/python -m pytest -n auto

slowtest: $(VENV)/installed-slowtest  ## run the tests that take minutes: oracles at five words, fuzzing, load
	$(VENV)/bin/python -m pytest -n auto -m slow

lint: $(VENV)/installed-test  ## check style, format and types
	$(VENV)/bin/python -m ruff check .
	$(VENV)/bin/python -m ruff format --check .
	$(VENV)/bin/python -m mypy

format: $(VENV)/installed-test  ## format the code, and fix what ruff can fix
	$(VENV)/bin/python -m ruff check --fix .
	$(VENV)/bin/python -m ruff format .

docs: $(VENV)/installed-docs  ## build the site of docs/ in site/; a warning is an error
	$(VENV)/bin/python -m mkdocs build --strict

results: $(VENV)/installed-test  ## compute tables and figures of results again; CHECK=1: only compare them
	OMP_NUM_THREADS=1 $(VENV)/bin/python scripts/make_results.py $(if $(CHECK),--check)

dist: $(VENV)/bin/python  ## build sdist and wheel in dist/, and check them
	$(VENV)/bin/python -m pip install build twine
	rm -rf build dist
	$(VENV)/bin/python -m build
	$(VENV)/bin/python -m twine check --strict dist/*

clean:  ## remove the virtual environment, builds and caches; trained models stay
	rm -rf $(VENV) build dist site dyparse.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Stamps: pip runs again only if pyproject.toml is newer.
$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install -e ".[train]"
	touch $@

$(VENV)/installed-test: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install -e ".[test]"
	touch $@ $(VENV)/installed

$(VENV)/installed-docs: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install -e ".[docs]"
	touch $@

$(VENV)/installed-slowtest: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install -e ".[test,fuzz]"
	touch $@ $(VENV)/installed-test $(VENV)/installed
