# What people and CI run. `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

# Outside the clone, so that a fresh clone starts with the compiled dependencies of the last one.
CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/toolcrib/target
export CARGO_TARGET_DIR

PORT ?= 8787
LISTEN ?= 127.0.0.1:$(PORT)

BINARY := target/release/toolcrib
DEMO := .run/demo

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the release binary, target/release/toolcrib
	cargo build --locked --release --package toolcrib
	@mkdir -p $(dir $(BINARY))
	@[[ $(CARGO_TARGET_DIR)/release/toolcrib -ef $(BINARY) ]] || install -m 755 $(CARGO_TARGET_DIR)/release/toolcrib $(BINARY)

.PHONY: run
run: build ## build, then serve a demo workspace (PORT=8787 or LISTEN=127.0.0.1:8787)
	@[[ -e $(DEMO)/tools.json ]] || { mkdir -p $(dir $(DEMO)); $(BINARY) init $(DEMO); }
	exec $(BINARY) serve --workspace $(DEMO) --listen $(LISTEN)

.PHONY: test
test: ## run all tests, with a PostgreSQL and Python programs of their own
	python=$$(scripts/python-tools); TOOLCRIB_TEST_PYTHON=$$python scripts/with-postgres cargo test --locked --workspace

.PHONY: lint
lint: ## check format, lints and dependencies
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	scripts/check-dependencies

.PHONY: fmt
fmt: ## format the sources
	cargo fmt --all

.PHONY: bench
bench: build ## measure; BENCH_ARGS="..." goes to bench/run.py
	cargo build --locked --release --package bench
	scripts/with-postgres --durable python3 bench/run.py --binary $(BINARY) --bench $(CARGO_TARGET_DIR)/release/bench $(BENCH_ARGS)

.PHONY: soak
soak: ## run the long suites (optimised build, TOOLCRIB_SOAK=1)
	python=$$(scripts/python-tools); TOOLCRIB_SOAK=1 TOOLCRIB_TEST_PYTHON=$$python scripts/with-postgres cargo test --locked --release --workspace

.PHONY: show-spine
show-spine: build ## show everything the spine must show, with figures
	scripts/show-spine

.PHONY: show-access
show-access: ## show who may do what, with figures
	scripts/show-access

.PHONY: show-kinds
show-kinds: ## show every kind of tool, with figures
	scripts/show-kinds

.PHONY: clean
clean: ## remove everything that was built, installed or made by `make run`
	cargo clean
	rm -rf target .deps .run
