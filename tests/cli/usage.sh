#!/usr/bin/env bash
# Help, version and command lines that make no sense.
. "$(dirname "$0")/lib.sh"
expect "no subcommand shows the help" 0 'devices +list' "$inflight"
expect "help" 0 'ptx +show' "$inflight" --help
expect "version" 0 '^inflight [0-9]+\.[0-9]+' "$inflight" --version
expect "an unknown subcommand" 2 "no subcommand 'walk'" "$inflight" walk
expect "what to do instead" 2 'inflight run walk' "$inflight" walk
expect "an unknown option" 2 '^inflight: ' "$inflight" --walk
expect "help of run names the variables" 0 'INFLIGHT_ASYNC' "$inflight" run --help
for each in run ptx devices env swizzle; do
  expect "help of $each" 0 'Usage: ' "$inflight" $each --help
done
finish
