# What one does here. `make` alone prints the list.
#
# Written for GNU make 3.81 (macOS) and newer: every line of a recipe is one command in a shell of its own, and make
# stops at the first that fails. Whatever needs more than that is a script with `set -eu`.

# For `run` and `bench`: what comes after the program's name, as in `make run ARGS="--port 0"`.
ARGS ?=
# For `install`.
PREFIX ?= $(HOME)/.local

# What has to be there; scripts/ensure knows how to get each. Add a word here and, if it is new, a line there.
BUILD_NEEDS := cargo cc
CHECK_NEEDS := $(BUILD_NEEDS) git lints
TEST_NEEDS  := $(CHECK_NEEDS) nextest openapi cxx python procps tmux vim less

TARGET := $(or $(CARGO_TARGET_DIR),target)

# A shell that is not a login shell may not know where rustup puts cargo.
export PATH := $(PATH):$(HOME)/.cargo/bin

# For `record`: which program, what, how large and where to.
RECORD ?= codex all 80x24 target/recordings

.PHONY: help run test test-agents record check fuzz accuracy bench fmt install clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: ## build paned, get what is missing, and serve in the foreground (ARGS="…" for `paned serve`)
	@scripts/ensure $(BUILD_NEEDS)
	cargo build --release -p paned
	@exec "$(TARGET)/release/paned" serve $(ARGS)

test: ## everything that proves it: check, then every test
	@scripts/ensure $(TEST_NEEDS)
	@$(MAKE) --no-print-directory check
	cargo build --workspace
	cargo nextest run --workspace --no-fail-fast
	@scripts/test-agents codex opencode aider
	@scripts/doctests
	@scripts/fuzz 15

test-agents: ## every real agent program against a fake model (ARGS="codex pi" for some)
	@scripts/ensure $(TEST_NEEDS)
	cargo build --workspace
	@scripts/test-agents $(ARGS)

record: ## record a real agent program with the truth beside it (RECORD="codex answer 80x24 FOLDER")
	@scripts/ensure $(BUILD_NEEDS) git node
	@scripts/agents $(firstword $(RECORD))
	cargo build --workspace
	@exec "$(TARGET)/debug/record" $(RECORD)

check: ## what every commit passes: formatting, lints, rules of the house
	@scripts/ensure $(CHECK_NEEDS)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo run -q -p xtask -- tidy

fuzz: ## look for inputs that break the pure code, two minutes a target (ARGS="600" for ten)
	@scripts/ensure $(TEST_NEEDS)
	@scripts/fuzz $(or $(ARGS),120)

accuracy: ## print how often the agent engine is right over all recordings (ARGS="-v codex" for some, in detail)
	@scripts/ensure $(BUILD_NEEDS)
	cargo run -q -p paned-e2e --bin accuracy -- $(ARGS)

bench: ## measure, as ratios to a limit found in the same run (ARGS="…" for `paned-bench`)
	@scripts/ensure $(BUILD_NEEDS)
	cargo build --profile dist -p paned -p paned-bench
	@case "$(ARGS)" in *--rivals*) scripts/rivals ;; esac
	@exec "$(TARGET)/dist/paned-bench" $(ARGS)

fmt: ## format the code
	cargo fmt --all

install: ## copy the binary, linked as a whole, to PREFIX/bin (default ~/.local/bin)
	@scripts/ensure $(BUILD_NEEDS)
	cargo build --profile dist -p paned
	@mkdir -p "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 "$(TARGET)/dist/paned" "$(DESTDIR)$(PREFIX)/bin/paned"

clean: ## remove what was built, and what scripts/ensure put in .cache
	cargo clean
	rm -rf .cache
