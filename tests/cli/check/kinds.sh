#!/usr/bin/env bash
# docs/mistakes.md: builds its programs, compares its reports with the findings, and checks that it
# has every kind. kinds.sh INFLIGHT PROGRAM NVCC
. "$(dirname "$0")/../lib.sh"
root=$here/../../..
PATH=$(dirname "$inflight"):$(dirname "$3"):$PATH python3 "$root/tests/python/sessions/check" "$root/docs/mistakes.md" "$work" ||
  fail "docs/mistakes.md says otherwise"
while read -r kind; do
  grep -q "^## $kind\$\|^inflight: $kind:" "$root/docs/mistakes.md" "$root/docs/checking.md" || fail "no page has a kernel with $kind"
done < <(grep -oP '^X\(\w+, "\K[a-z-]+' "$root/gpu/check/finding/kinds.def")
finish
