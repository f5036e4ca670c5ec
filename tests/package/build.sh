#!/usr/bin/env bash
# `make package`'s own step. Skipped where its tools cannot be had.
cd "$(dirname "$0")/../.." || exit 1
tools/install-tools packaging || exit 77
tools/package
