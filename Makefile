# Set-up is one step: every target makes the environment it needs.
PYTHON ?= python3
PORT ?= 5000
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check bench soak ui lock clean

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@

# The 20-run sweep and the anchors on generated data, and the table.
demo: $(READY)
	$(BIN)/python -m engram_hydra +experiment=ablations
	$(BIN)/python -m engram_hydra +experiment=anchors
	$(BIN)/python -m engram_hydra.aggregate
	@echo "Open the MLflow UI with: make ui"

test: $(READY)
	$(BIN)/python -m pytest

# Lint, types, and known vulnerabilities of the locked packages, where the network allows.
check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/audit.py

# What the machinery costs, as ratios within one run; figures are kept in benchmarks/README.md.
# The last script takes about 25 minutes: growth.py --rounds 1 is enough for a look.
bench: $(READY)
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/sweeps.py
	$(BIN)/python benchmarks/coral.py
	$(BIN)/python benchmarks/intervals.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/aggregation.py
	$(BIN)/python benchmarks/growth.py

# Faults that take long to stage, and a million polyps in one pass, within 6 GiB; takes a while.
soak: $(READY)
	$(BIN)/python -m pytest -m soak
	$(BIN)/python benchmarks/soak.py

# For this machine only; docs/security.md says how others get in, with a password.
ui: $(READY)
	$(BIN)/mlflow ui --host 127.0.0.1 --port $(PORT) --backend-store-uri sqlite:///$(CURDIR)/mlruns/mlflow.db

# Pins every version for 3.10 to 3.13; the GPU packages that torch names are left out.
lock:
	echo "torch==2.13.0" > .torch-pin
	uv pip compile --quiet --universal --python-version 3.10 --extra dev --extra peers \
		--extra joblib --extra slurm --extra ray --extra server --no-header --no-annotate \
		--constraint .torch-pin pyproject.toml | grep -vE '^(nvidia-|triton|cuda-)' > requirements.lock
	rm .torch-pin

# Results (outputs/, mlruns/) are yours to delete.
clean:
	rm -rf dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
