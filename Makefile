# stepscope. `make lab` and `make test` each set up everything they need; run `make help` for the rest.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# `make lab PORT=8001`, `make test ARGS='-k render'`, `make up LAB_PORT=8001`, `make setup PYTHON=python3.12`
PYTHON ?= python3
VENV ?= .venv
HOST ?= 127.0.0.1
PORT ?= 8000
ARGS ?=
# Files of tests that run side by side; `make test WORKERS=0` runs one after the other. Those of the stack mostly wait.
WORKERS ?= 2
STACK_WORKERS ?= 3

BIN := $(VENV)/bin
CODE := stepscope diagnosis exporter simulator faults grafana prometheus benchmarks examples tests
COMPOSE := docker compose

.PHONY: help setup lab up urls down logs test stack check fmt lint type dashboards rules runbook fidelity picture bench clean

help: ## show this list
	@sed -n 's/^\([a-z][a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "stepscope needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) -V 2>&1 || true): try make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras, so that the lab never waits for the test tools.
$(VENV)/.lab: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[lab]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[lab,gpu,stack,dev]'
	@touch $@ $(VENV)/.lab

# 0.9 GB, for the stack tests alone.
$(VENV)/.job: pyproject.toml | $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[job]'
	@touch $@

setup: $(VENV)/.dev ## make .venv with everything that development needs

lab: $(VENV)/.lab ## run the lab on one port (PORT=8000): simulator, API, page and metrics; needs no Docker
	$(BIN)/stepscope lab --host $(HOST) --port $(PORT) $(ARGS)

up: ## start simulator, Prometheus and Grafana in containers and wait until all are healthy
	$(COMPOSE) up --detach --build --wait
	@$(MAKE) --no-print-directory urls

urls: ## print where the containers can be reached, and the lab's token where writes need it
	@show() { where=$$($(COMPOSE) port "$$2" "$$3" 2>/dev/null) || return 0; printf '%-15shttp://%s\n' "$$1" "$$where"; }; \
	show lab simulator 8000; show Grafana grafana 3000; show Prometheus prometheus 9090; \
	show Alertmanager alertmanager 9093; show answers prometheus-answers 9090; show 'answers board' grafana-answers 3000; \
	case $$($(COMPOSE) port simulator 8000) in 127.* | '[::1]'*) exit 0 ;; \
	  0.0.0.0:* | '[::]'*) echo 'others           by an address of this machine that STEPSCOPE_ALLOWED_HOSTS in .env names' ;; esac; \
	printf '%-15s%s\n' token "$$($(COMPOSE) exec -T simulator cat /var/lib/stepscope/token)"

down: ## stop the containers (their data stays; `docker compose down --volumes` forgets it)
	$(COMPOSE) --profile '*' down --remove-orphans

logs: ## follow the containers' logs
	$(COMPOSE) --profile '*' logs --follow --tail 100

test: $(VENV)/.dev ## run the tests that need nothing but Python
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

stack: $(VENV)/.dev $(VENV)/.job ## run the tests against a real Prometheus, Docker engine and training job; none may be skipped
	STEPSCOPE_REQUIRE_STACK=1 $(BIN)/python -m pytest -m stack -n $(STACK_WORKERS) --dist loadfile $(ARGS)

check: $(VENV)/.dev ## all that CI asks: format, lint, types, imports, generated files, tests
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m exporter.metrics_md --check
	$(BIN)/python -m stepscope.api.openapi --check
	$(BIN)/python prometheus/build_rules.py --check
	$(BIN)/python grafana/build_dashboards.py --check
	$(BIN)/python -m stepscope.runbook --check
	$(BIN)/python -m tests.oracles.fidelity --check
	$(MAKE) --no-print-directory test

fmt: $(VENV)/.dev ## format the code and apply the safe fixes
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

lint: $(VENV)/.dev ## lint only
	$(BIN)/ruff check $(CODE)
	$(BIN)/lint-imports --no-logo

type: $(VENV)/.dev ## types only
	$(BIN)/mypy

dashboards: $(VENV)/.dev ## write the boards again from their code
	$(BIN)/python grafana/build_dashboards.py

rules: $(VENV)/.dev ## write the Prometheus rules again from their code
	$(BIN)/python prometheus/build_rules.py

runbook: $(VENV)/.dev ## write the causes of RUNBOOK.md again from the verdicts and the kinds of faults
	$(BIN)/python -m stepscope.runbook

fidelity: $(VENV)/.dev ## write docs/fidelity.md again: each metric's origin, each published figure's error
	$(BIN)/python -m tests.oracles.fidelity

picture: $(VENV)/.dev ## draw the README's picture again from a headless run
	$(BIN)/python -m stepscope.picture

bench: $(VENV)/.dev ## measure what BENCHMARKS.md states
	$(BIN)/python -m benchmarks $(ARGS)

clean: ## remove what was built here, the virtual environment included
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
