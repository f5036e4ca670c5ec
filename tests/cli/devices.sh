#!/usr/bin/env bash
# The table of devices.
. "$(dirname "$0")/lib.sh"
for device in h200 h100 a100 b200; do
  expect "$device is there" 0 "^$device +NVIDIA" "$inflight" devices
done
expect "h200 is what one gets" 0 'h200 unless told' "$inflight" devices
expect "its architecture" 0 '^h200 .*sm_90a ' "$inflight" devices
expect "no argument is taken" 2 '^inflight: ' "$inflight" devices h200
finish
