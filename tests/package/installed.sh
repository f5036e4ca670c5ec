#!/usr/bin/env bash
# What `make install` installs, moved elsewhere afterwards: installed.sh BUILD PROGRAM
. "$(dirname "$0")/lib.sh"
cmake --install "$1" --prefix "$work/first" >/dev/null || fail "cmake --install failed"
mkdir "$work/a place"
mv "$work/first" "$work/a place/moved"
works "make install" "$work/a place/moved/bin/inflight" "$2"
if man -w inflight >/dev/null 2>&1 || type -P man >/dev/null; then
  says "man page" 0 '^EXIT STATUS' man -l "$work/a place/moved/share/man/man1/inflight.1.gz"
fi
grep -rIl "$root" "$work/a place/moved" && fail "these files name the source tree"
finish
