# works WHERE INFLIGHT PROGRAM: an installed command runs and checks a program with only PATH in the
# environment. installed_version and says are further checks. Sourced. `finish` reports the
# failures.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
packages=$root/build/packages
version=$(sed -nE 's/^project\(inflight VERSION ([0-9.]+).*/\1/p' "$root/CMakeLists.txt")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

finish() {
  [ "$failures" = 0 ] && echo "all of it works"
  exit $((failures > 0))
}

bare() { env -i PATH="${BARE_PATH:-/usr/bin:/bin}" HOME="$work" INFLIGHT_PROGRESS=0 "$@"; }

# says NAME STATUS PATTERN COMMAND...: checks the exit status and a line of the output of both
# streams.
says() {
  local name=$1 wanted=$2 pattern=$3 output status
  shift 3
  output=$("$@" 2>&1 </dev/null)
  status=$?
  [ "$status" = "$wanted" ] || fail "$name: exit status $status, not $wanted: $output"
  grep -qE -- "$pattern" <<<"$output" || fail "$name: no line matches '$pattern': $output"
}

# $inside has the words before the command, such as those of chroot.
inside=(bare)
works() {
  local where=$1 inflight=$2 program=$3
  says "$where: version" 0 "^inflight ${version//./\\.}$" "${inside[@]}" "$inflight" --version
  says "$where: run" 0 '^right$' "${inside[@]}" "$inflight" run "$program"
  says "$where: check" 0 'nothing found, in 1 launch' "${inside[@]}" "$inflight" check "$program"
  says "$where: check finds" 86 'data-race: ' "${inside[@]}" "$inflight" check "$program" race
  says "$where: ptx" 0 'reverse\(int\*\)' "${inside[@]}" "$inflight" ptx "$program"
  says "$where: a child of a child" 0 '^right$' "${inside[@]}" "$inflight" run sh -c "'$inflight' run '$program'"
}
