#!/usr/bin/env bash
# Checks the batches that a quick build compiles together (INFLIGHT_QUICK, used by 'make demo'): no
# name is in two files of a batch, nor in a file outside the batches and in the precompiled headers.
# together.sh SOURCE FOLDER TOGETHER: compiles only the batches and those files, in FOLDER. TOGETHER is ON if
# the tested build itself has the batches, which are left out then.
set -eu
source=$1 folder=$2 together=$3
mkdir -p "$folder"
cmake -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
  -DINFLIGHT_QUICK=ON -DINFLIGHT_INSTRUCTION_SETS=baseline -DINFLIGHT_TESTS=OFF \
  >"$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; exit 1; }
mapfile -t batches < <(ninja -C "$folder" -t targets all | sed -n 's/: CXX_COMPILER.*//p' | grep /Unity/)
[ ${#batches[@]} -ge 10 ] || { echo "only ${#batches[@]} batches are compiled together"; exit 1; }
mapfile -t beside < <(ninja -C "$folder" -t targets all | sed -n 's/: CXX_COMPILER.*//p' | grep -E '/inflight_(machine|detect|trace)\.dir/' |
  grep -v /Unity/)
[ "$together" != ON ] || batches=()
ninja -C "$folder" -k 0 "${batches[@]}" "${beside[@]}"
