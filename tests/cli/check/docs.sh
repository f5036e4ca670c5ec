#!/usr/bin/env bash
# Tests of pages: builds their programs, runs their commands, and compares the output with the
# pages. README.md shows a program of docs/checking.md. docs.sh INFLIGHT PROGRAM NVCC
. "$(dirname "$0")/../lib.sh"
root=$here/../../..
for page in docs/checking.md README.md docs/using.md; do
  PATH=$(dirname "$inflight"):$(dirname "$3"):$PATH python3 "$root/tests/python/sessions/check" "$root/$page" "$work" ||
    fail "$page says otherwise"
done
# tests/nccl runs NCCL's commands, and mpi.sh runs MPI's.
PATH=$(dirname "$inflight"):$(dirname "$3"):$PATH python3 "$root/tests/python/sessions/check" "$root/docs/several-gpus.md" "$work" \
  mpirun mpicxx torchrun NCCL nccl all_reduce_perf || fail "docs/several-gpus.md says otherwise"
while read -r kind; do
  grep -q "^| \`$kind\` |" "$root/docs/checking.md" || fail "docs/checking.md does not tell of $kind"
done < <(grep -oP '^X\(\w+, "\K[a-z-]+' "$root/gpu/check/finding/kinds.def")
for variable in $("$inflight" check --help | grep -o 'INFLIGHT_[A-Z_]*' | sort -u); do
  grep -q "$variable" "$root/docs/checking.md" "$root/docs/options.md" || fail "no page of docs names $variable"
done
finish
