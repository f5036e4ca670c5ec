# make demo builds Inflight and runs the examples on the software GPU. make test runs all that CI
# runs.
.PHONY: help setup build demo test unit tidy test-all fuzz bench checkperf install package docs clean
PREFIX ?= /usr/local

help:
	@echo 'make demo      install what is missing, build, run the examples on the software GPU'
	@echo 'make test      install what is missing, build, run every test that CI runs'
	@echo 'make unit      build and run the unit tests of what changed: minutes once, then seconds'
	@echo 'make tidy      look for defects in gpu and cli with clang-tidy'
	@echo 'make test-all  the same, and all tests under sanitizers, and longer fuzzing and soaking'
	@echo 'make build     build/release/bin/inflight and build/release/lib'
	@echo 'make fuzz      ten minutes of fuzzing for each target;  make bench  the measurements'
	@echo 'make checkperf BASE=COMMIT   every benchmark with that commit and this state in turn'
	@echo 'make install   into PREFIX, now $(PREFIX)'
	@echo 'make package   build/packages: a wheel, a Debian package and a Containerfile'
	@echo 'make docs      build/site: guides, reference and results as one site'

setup:
	@tools/setup

build: setup
	@tools/build release

demo:
	@tools/setup demo
	@tools/demo

test: setup
	@tools/test

unit:
	@tools/setup demo
	@tools/unit

tidy: setup
	@tools/tidy

test-all: setup
	@tools/test all

fuzz: setup
	@tools/fuzz 600

bench: setup
	@tools/bench

checkperf: setup
	@tools/build release --with -DINFLIGHT_BENCH=ON
	@bench/checkperf $(or $(BASE),$(error make checkperf needs BASE=COMMIT)) --rounds $(or $(ROUNDS),5) --json build/checkperf.json

install: build
	cmake --install build/release --prefix $(PREFIX)

package: setup
	@tools/package

docs: build
	@tools/docs

clean:
	rm -rf build
