# make train   from a fresh clone to a trained parser
# make test    from a fresh clone to a tested one; make slowtest for what takes long
# Other Python or place:   make PYTHON=python3.12 VENV=/tmp/venv train

PYTHON = python3
VENV = .venv

.DELETE_ON_ERROR:
.PHONY: help train test slowtest lint clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile | expand -t 14

train: $(VENV)/installed  ## train on the sample treebank that comes with the package
	$(VENV)/bin/python train.py trainer.epochs=10

test: $(VENV)/installed-test  ## run the tests
	$(VENV)/bin/python -m pytest -n auto

slowtest: $(VENV)/installed-slowtest  ## run the tests that take long: five words, fuzzing, load
	$(VENV)/bin/python -m pytest -n auto -m slow

lint: $(VENV)/installed-test  ## check style and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy dyparse train.py evaluate.py scripts benchmarks

clean:  ## remove the virtual environment, builds and caches; trained models stay
	rm -rf $(VENV) build dist dyparse.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Stamps: pip runs again only when pyproject.toml is newer.
$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install -e .
	touch $@

$(VENV)/installed-test: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install -e ".[test]"
	touch $@ $(VENV)/installed

$(VENV)/installed-slowtest: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install -e ".[test,fuzz]"
	touch $@ $(VENV)/installed-test $(VENV)/installed
