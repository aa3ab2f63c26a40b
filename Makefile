# The commands for developers; `make` lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: help deps build demo test test-ads-peer unit integration sanitized sanitize soak bench gpu-check fmt lint fuzz image package install clean

help: ## list these targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

deps: ## install what building needs (Debian 12, Ubuntu 24.04)
	@scripts/install-packages build

build: deps ## build build/muster and build/muster-launch
	@scripts/build release muster muster-launch

demo: build ## a real two-process training on this machine, from nothing
	@scripts/demo

test: ## install what the tests need, and run them all
	@scripts/install-packages build test browser demo
	@scripts/install-packages cpp || echo "==> the example in C++ will be left out: the end says so"
	@scripts/test all

unit: ## only the unit tests (under a minute once built)
	@scripts/install-packages build test
	@scripts/test unit

test-ads-peer: build ## opctl beside Oracle's own oracle-ads and oci (200 MB from the package index)
	@scripts/install-packages test
	@scripts/test-ads-peer

sanitized: ## only build what `make sanitize` runs
	@scripts/install-packages build test
	@scripts/build asan
	@scripts/build tsan

sanitize: ## the unit tests under address, undefined-behaviour and thread sanitizers
	@scripts/install-packages build test
	@scripts/test sanitize

soak: ## long fuzzing and kill tests
	@scripts/install-packages build test demo container fuzz
	@scripts/soak

bench: build ## speed and size, as ratios to the real peer in the same run
	@scripts/install-packages demo
	@scripts/install-packages cpp || true
	@bench/run
	@bench/pods --limit 8
	@bench/launch
	@bench/answers
	@bench/forecast
	@bench/mnist-cpp
	@bench/opctl
	@bench/oci
	@bench/operator --shapes 1000x4,10000x1,100x100,1x10000 --foreign-pods 20000 --recovery

gpu-check: build ## on a machine with a GPU: shows it, trains on it, refuses a second job meanwhile
	@scripts/gpu-check

fmt: ## format the sources
	@scripts/install-packages lint
	@git ls-files '*.cc' '*.h' 'web/*.js' | xargs clang-format-19 -i

lint: ## formatting and clang-tidy on what changed
	@scripts/install-packages build test lint
	@scripts/lint

image: ## build the operator's image (IMAGE=muster:0.1.0) with podman or docker
	@scripts/image $(IMAGE)

package: deps ## build/packages: a .deb and a tarball, with the manual and completions
	@scripts/package release

install: build ## copy muster, its manual and completions to PREFIX (default /usr/local)
	@scripts/build release manual
	@cmake --install build --strip --prefix $(PREFIX)

clean: ## remove build/
	rm -rf build
