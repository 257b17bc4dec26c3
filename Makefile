# What people and CI run. `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

# Outside the clone, so that a fresh clone starts with the compiled dependencies of the last one.
CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/toolcrib/target
export CARGO_TARGET_DIR
# Of whatever is made, since nearly everything is built first.
ignored := $(shell scripts/own-target "$(CARGO_TARGET_DIR)")

PORT ?= 8787
LISTEN ?= 127.0.0.1:$(PORT)

BINARY := target/release/toolcrib
QUICK := target/quick/toolcrib
DEMO := .run/demo

# Copies what was built under the profile $(1) to the clone, where the README looks for it.
installed = mkdir -p target/$(1) && \
  { [[ $(CARGO_TARGET_DIR)/$(1)/toolcrib -ef target/$(1)/toolcrib ]] || \
    install -m 755 $(CARGO_TARGET_DIR)/$(1)/toolcrib target/$(1)/toolcrib; }

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: page ## build the program to install, target/release/toolcrib
	cargo build --locked --release --package toolcrib
	@$(call installed,release)

.PHONY: page
page: ## build the web page, web/dist, which the program then holds
	scripts/page build

.PHONY: run
run: page ## build quickly, then serve a demo workspace (PORT=8787 or LISTEN=127.0.0.1:8787)
	cargo build --locked --profile quick --package toolcrib
	@$(call installed,quick)
	@[[ -e $(DEMO)/tools.json ]] || { mkdir -p $(dir $(DEMO)); $(QUICK) init $(DEMO); }
	exec $(QUICK) serve --workspace $(DEMO) --listen $(LISTEN)

.PHONY: test
test: page ## run all tests, with a PostgreSQL, Python and MCP programs of their own, and the page's in a browser
	scripts/page test
	python=$$(scripts/python-tools); programs=$$(scripts/mcp-programs); \
	  TOOLCRIB_TEST_PYTHON=$$python TOOLCRIB_TEST_MCP=$$programs scripts/with-postgres cargo test --locked --workspace
	$(MAKE) --no-print-directory e2e

# With the program that the tests have built: nothing is compiled twice.
.PHONY: e2e
e2e: page ## run the page's tests in a real browser
	cargo test --locked --workspace --no-run
	E2E_BINARY=$(CARGO_TARGET_DIR)/debug/toolcrib scripts/with-postgres scripts/page e2e

.PHONY: screenshots
screenshots: page ## take pictures of every page, web/screenshots/
	cargo test --locked --workspace --no-run
	E2E_FILE=screenshots E2E_BINARY=$(CARGO_TARGET_DIR)/debug/toolcrib scripts/page e2e

# Built as `make test` builds it, so that nothing is compiled twice; the suite's client is an example.
.PHONY: conformance
conformance: ## run MCP's conformance suite on our server and on our upstream client
	programs=$$(scripts/mcp-programs); cargo test --locked --workspace --no-run; \
	  TOOLCRIB_TEST_MCP=$$programs cargo test --locked --workspace --test mcp conformance:: -- --nocapture --test-threads=1

.PHONY: replay
replay: ## replay recordings of model providers (CASSETTES names their folder)
	scripts/replay "$(CASSETTES)"

.PHONY: lint
lint: ## check format, lints, dependencies and the files of deploy/
	@scripts/trim-target $(CARGO_TARGET_DIR)
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	scripts/check-dependencies
	scripts/check-deploy
	scripts/page check

.PHONY: fmt
fmt: ## format the sources
	cargo fmt --all

.PHONY: bench
bench: build ## measure; BENCH_ARGS="..." goes to bench/run.py
	cargo build --locked --release --package bench
	scripts/with-postgres --durable python3 bench/run.py --binary $(BINARY) --bench $(CARGO_TARGET_DIR)/release/bench $(BENCH_ARGS)

.PHONY: soak
soak: build ## run the long suites (optimised build, TOOLCRIB_SOAK=1), then a million calls, then runs with models of others
	python=$$(scripts/python-tools); programs=$$(scripts/mcp-programs); \
	  TOOLCRIB_SOAK=1 TOOLCRIB_TEST_PYTHON=$$python TOOLCRIB_TEST_MCP=$$programs scripts/with-postgres cargo test --locked --release --workspace
	cargo build --locked --release --package bench
	python3 bench/run.py --binary $(BINARY) --bench $(CARGO_TARGET_DIR)/release/bench --only soak
	scripts/soak-models $(BINARY)

.PHONY: show-spine
show-spine: build ## show everything the spine must show, with figures
	scripts/show-spine

.PHONY: show-access
show-access: ## show who may do what, with figures
	scripts/show-access

.PHONY: show-kinds
show-kinds: ## show every kind of tool, with figures
	scripts/show-kinds

.PHONY: show-mcp
show-mcp: ## show MCP on both sides and in both eras, with figures
	scripts/show-mcp

.PHONY: show-data
show-data: build ## show SQL tools, data search and vectors, with figures
	scripts/with-postgres scripts/show-data

.PHONY: show-replicas
show-replicas: build ## show several servers on one PostgreSQL, moving in and out, and keeping watch, with figures
	scripts/with-postgres scripts/show-replicas

.PHONY: show-selection
show-selection: build ## show how tools are chosen, with figures (SELECTION_DATA names the public sets' folder)
	scripts/with-postgres scripts/show-selection

.PHONY: show-runs
show-runs: build ## show runs, with figures (CASSETTES names the folder of recordings)
	scripts/with-postgres scripts/show-runs

.PHONY: show-page
show-page: build ## show the web page in a real browser, with figures
	scripts/with-postgres scripts/show-page

.PHONY: sbom
sbom: ## write the bill of materials (CycloneDX), target/dist/toolcrib.cdx.json
	@mkdir -p target/dist
	scripts/sbom target/dist/toolcrib.cdx.json

.PHONY: release
release: build ## pack program, bill of materials, licences and deploy/ into target/dist
	scripts/release $(BINARY) target/dist

.PHONY: clean
clean: ## remove everything that was built, installed or made by `make run`
	cargo clean
	rm -rf target .deps .run
