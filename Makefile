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
TEST_NEEDS  := $(CHECK_NEEDS) nextest openapi cxx python node procps tmux vim less bash zsh fish

TARGET := $(or $(CARGO_TARGET_DIR),target)

# A shell that is not a login shell may not know where rustup puts cargo.
export PATH := $(PATH):$(HOME)/.cargo/bin

# For `chaos`: how long, and which choices; a seed is made up and printed when left out.
MINUTES ?= 2
SEED ?=

# For `record`: which program, what, how large and where to.
RECORD ?= codex all 80x24 target/recordings

.PHONY: help run test quick attack chaos test-agents record picture check fuzz accuracy bench chart docs fmt install uninstall dist clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: ## build paned, get what is missing, and serve in the foreground (ARGS="…" for `paned serve`)
	@scripts/ensure $(BUILD_NEEDS)
	@scripts/host-bundle
	@scripts/web-bundle
	@scripts/web-compress
	cargo build --release -p paned
	@exec "$(TARGET)/release/paned" serve $(ARGS)

test: ## everything that proves it, stage by stage; says at its start what and how long (ARGS="tests fuzz" for some)
	@scripts/ensure $(TEST_NEEDS)
	@scripts/test $(ARGS)

quick: ## the inner loop: check and unit tests, under a minute when most is built
	@scripts/ensure $(CHECK_NEEDS) nextest
	@scripts/check
	cargo nextest run --workspace --no-fail-fast --lib --bins

attack: ## what must not be possible from outside, as tests; part of `make test`
	@scripts/ensure $(TEST_NEEDS)
	cargo build --workspace
	cargo nextest run --workspace --no-fail-fast --test attack

test-agents: ## real agent programs against a fake model (ARGS="codex pi" for some, ARGS=claude by choice: not open source)
	@scripts/ensure $(TEST_NEEDS)
	cargo build --workspace
	@scripts/test-agents $(ARGS)

chaos: ## kill, stop and break things around fifty panes, and check every promise (MINUTES=2 SEED=…)
	@scripts/ensure $(BUILD_NEEDS) tmux
	cargo build -p paned -p paned-e2e
	@exec "$(TARGET)/debug/chaos" --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

record: ## record a real agent program with the truth beside it (RECORD="codex answer 80x24 FOLDER")
	@scripts/ensure $(BUILD_NEEDS) git node
	@scripts/agents $(firstword $(RECORD))
	cargo build --workspace
	@exec "$(TARGET)/debug/record" $(RECORD)

picture: ## record the picture of the README anew, docs/images/demo.svg
	@scripts/ensure $(BUILD_NEEDS) jq
	cargo build --workspace
	@exec "$(TARGET)/debug/picture" docs/images/demo.svg

check: ## what every commit passes: formatting, lints, rules of the repository, dependencies
	@scripts/ensure $(CHECK_NEEDS)
	@scripts/check

fuzz: ## look for inputs that break the pure code, two minutes a target (ARGS="600" for ten)
	@scripts/ensure $(TEST_NEEDS)
	@scripts/fuzz $(or $(ARGS),120)

accuracy: ## print how often the agent engine is right over all recordings (ARGS="-v codex" for some, in detail)
	@scripts/ensure $(BUILD_NEEDS)
	cargo run -q -p paned-recorder --bin accuracy -- $(ARGS)

bench: ## measure, as ratios to a limit found in the same run (ARGS="…" for `paned-bench`)
	@scripts/ensure $(BUILD_NEEDS)
	@scripts/host-bundle
	@scripts/web-bundle
	@scripts/web-compress
	cargo build --profile dist -p paned -p paned-bench
	@case "$(ARGS)" in *--rivals*) scripts/rivals ;; esac
	@exec "$(TARGET)/dist/paned-bench" $(ARGS)

chart: ## draw docs/images/benchmarks.svg from the table in docs/benchmarks.md
	@scripts/chart > docs/images/benchmarks.svg

fmt: ## format the code
	cargo fmt --all

docs: ## write the pages that are generated from the program
	@scripts/ensure $(BUILD_NEEDS)
	cargo xtask docs

install: ## build and install the binary, man pages and completions below PREFIX (default ~/.local)
	@scripts/ensure $(BUILD_NEEDS)
	@scripts/host-bundle
	@scripts/web-bundle
	@scripts/web-compress
	cargo build --profile dist -p paned
	@scripts/stage "$(TARGET)/dist/paned" "$(DESTDIR)$(PREFIX)"
	@echo "installed in $(DESTDIR)$(PREFIX); a running server changes over with: paned server upgrade"

uninstall: ## remove what `make install` has installed below PREFIX
	@scripts/stage --remove "$(DESTDIR)$(PREFIX)"

dist: ## build the release archive, the Debian package and their checksums in TARGET/packages
	@scripts/ensure $(BUILD_NEEDS) node
	@scripts/host-bundle --required
	@scripts/web-bundle --required
	@scripts/web-compress
	cargo build --profile dist -p paned
	@scripts/package "$(TARGET)/dist/paned" "$(TARGET)/packages"

clean: ## remove what was built, and what scripts/ensure put in .cache
	cargo clean
	rm -rf .cache extensions/node_modules extensions/host/dist web/node_modules web/dist
