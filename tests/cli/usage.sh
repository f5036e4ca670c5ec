#!/usr/bin/env bash
# Help, version and invalid command lines.
. "$(dirname "$0")/lib.sh"
expect "no subcommand shows the help" 0 'devices +list' "$inflight"
expect "help" 0 'ptx +show' "$inflight" --help
expect "version" 0 '^inflight [0-9]+\.[0-9]+' "$inflight" --version
expect "an unknown subcommand" 2 "unknown subcommand 'walk'" "$inflight" walk
expect "what to do instead" 2 'inflight run walk' "$inflight" walk
expect "an unknown option" 2 "^inflight: unknown option or argument '--walk'" "$inflight" --walk
expect "a slip in a subcommand" 2 "^ *Did you mean 'inflight run'" "$inflight" rn ./vec
expect "a slip in another" 2 "^ *Did you mean 'inflight check'" "$inflight" chekc ./vec
expect "no slip" 2 "inflight run walk" bash -c '"$0" walk 2>&1 | grep -v "Did you mean"; exit 2' "$inflight"
expect "a slip in an option" 2 '^ *Did you mean --stats\?' "$inflight" run --stat ./vec
expect "in an option with a value" 2 '^ *Did you mean --devices\?' "$inflight" check --deviecs=2 ./vec
expect "in an option of check" 2 '^ *Did you mean --suppressions\?' "$inflight" check --supressions ./vec
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

# Output that cannot be written.
cat >"$work/k.ptx" <<'P'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k() { ret; }
P
full() { "$@" >/dev/full; }
for each in --help --version devices 'devices --ctest' env 'env --cmake' swizzle 'swizzle --suggest row' "ptx $work/k.ptx" \
  "ptx --print $work/k.ptx" "ptx --shapes $work/k.ptx" 'run --help'; do
  # shellcheck disable=SC2086
  expect "$each to a full disk" 1 '^inflight: the output could not be written: No space left on device\.$' full "$inflight" $each
done
closed() { "$@" >&-; }
expect "to a closed output" 1 '^inflight: the output could not be written: Bad file descriptor\.$' closed "$inflight" devices
unread() { "$inflight" run -- sh -c 'for i in 0 1 2; do [ -e /proc/self/fd/$i ] && echo "open $i" >&3; done' 3>&1 <&- >&- 2>&-; }
[ -z "$(unread)" ] || fail "a program gets standard streams that were closed: $(unread)"
expect "a picture on a full disk" 1 "^inflight: '/dev/full' cannot be written: No space left on device\.$" \
  "$inflight" swizzle --svg /dev/full
echo old >"$work/old.svg"
limited() { (ulimit -f 1; "$@"); }
expect "a picture without room" 1 "old.svg' cannot be written: File too large; the file that was there is kept" \
  limited "$inflight" swizzle --svg "$work/old.svg"
[ "$(cat "$work/old.svg")" = old ] || fail "the old picture is gone"

# Names that a terminal would obey.
printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { \033[31m; }\n' >"$work/bad.ptx"
expect "PTX with an escape" 1 'x1b' "$inflight" ptx "$work/bad.ptx"
grep -q $'\033' <<<"$output" && fail "it reaches the terminal: $output"
finish
