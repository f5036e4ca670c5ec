#!/usr/bin/env bash
# nvidia-smi, which inflight run puts on PATH.
. "$(dirname "$0")/lib.sh"
expect "the list" 0 '^GPU 1: NVIDIA A100-SXM4-80GB \(UUID: GPU-[0-9a-f-]{36}\)$' \
  "$inflight" run --device a100 --devices 2 nvidia-smi -L
expect "the table" 0 '^\|   0  NVIDIA H200 ' "$inflight" run nvidia-smi
expect "the table's versions" 0 'Driver Version: [0-9.]+ +CUDA Version: 13.0 ' "$inflight" run nvidia-smi
expect "a script's query" 0 '^0, NVIDIA H200, 143155 MiB, 9.0$' \
  "$inflight" run sh -c 'nvidia-smi --query-gpu=index,name,memory.total,compute_cap --format=csv,noheader'
expect "headings" 0 '^index, memory.total \[MiB\], temperature.gpu$' \
  "$inflight" run nvidia-smi --query-gpu=index,memory.total,temperature.gpu --format=csv
expect "what it does not have" 0 '^0, 143155, \[N/A\]$' \
  "$inflight" run nvidia-smi --query-gpu=index,memory.total,temperature.gpu --format=csv,noheader,nounits
expect "one device" 0 '^1$' \
  "$inflight" run --devices 2 nvidia-smi -i 1 --query-gpu=index --format=csv,noheader
expect "no such device" 6 '^No devices were found$' "$inflight" run nvidia-smi -i 5 -L
expect "an unknown field" 2 '^Field "speed" is not a valid field to query.$' \
  "$inflight" run nvidia-smi --query-gpu=speed --format=csv
expect "no format" 2 '"--format=" switch is missing' "$inflight" run nvidia-smi --query-gpu=name
expect "all of it" 0 '^    Product Name +: NVIDIA H200$' "$inflight" run nvidia-smi -q
expect "processes" 0 '^pid, used_memory \[MiB\]$' \
  "$inflight" run nvidia-smi --query-compute-apps=pid,used_memory --format=csv
read -r total used free < <("$inflight" run nvidia-smi --query-gpu=memory.total,memory.used,memory.free \
  --format=csv,noheader,nounits | tr -d ,)
[ "$total" = $((used + free)) ] || fail "memory does not add up: $total is not $used + $free"
finish
