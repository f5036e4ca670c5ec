#!/usr/bin/env bash
# Runs `make package`'s own step. Skipped if its tools are not available.
cd "$(dirname "$0")/../.." || exit 1
tools/install-tools packaging || exit 77
tools/package
