#!/bin/sh
# Runs a unit test program with one instruction set: under.sh SET HOST_TESTS PROGRAM. Exits with 77 if this
# processor does not support the set, as HOST_TESTS' list of usable sets says.
set -eu
export INFLIGHT_ISA="$1"
[ -x "$2" ] || { echo "$2 is not built"; exit 1; }
"$2" --gtest_filter=InstructionSet.IsUsableAndNamed --gtest_brief=0 | grep -q "in use: $1\$" || {
  echo "this processor does not support $1"
  exit 77
}
exec "$3" --gtest_brief=1
