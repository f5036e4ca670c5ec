#!/usr/bin/env bash
# Help, version and invalid command lines.
. "$(dirname "$0")/lib.sh"
expect "no subcommand shows the help" 0 'devices +list' "$inflight"
expect "help" 0 'ptx +show' "$inflight" --help
expect "version" 0 '^inflight [0-9]+\.[0-9]+' "$inflight" --version
expect "an unknown subcommand" 2 "unknown subcommand 'walk'" "$inflight" walk
expect "what to do instead" 2 'inflight run walk' "$inflight" walk
expect "an unknown option" 2 "^inflight: unknown option or argument '--walk'" "$inflight" --walk
expect "an argument too many" 2 "unknown option or argument 'b'" "$inflight" ptx a b
expect "an option without its value" 2 '^inflight: --async needs a value: early\|late\|shuffled:SEED\.$' \
  "$inflight" run --async
expect "an empty value" 2 '^inflight: --stats needs a value' "$inflight" run --stats= true
expect "an option given twice" 2 '^inflight: --devices was given more than once' \
  "$inflight" run --devices 1 --devices 2 true
expect "help of run names the variables" 0 'INFLIGHT_ASYNC' "$inflight" run --help
for each in run ptx devices env swizzle; do
  expect "help of $each" 0 'Usage: ' "$inflight" $each --help
done
finish
