#!/usr/bin/env bash
# Tests the result of `make install`, moved to another place: installed.sh BUILD PROGRAM
. "$(dirname "$0")/lib.sh"
cmake --install "$1" --prefix "$work/first" >/dev/null || fail "cmake --install failed"
mkdir "$work/a place"
mv "$work/first" "$work/a place/moved"
works "make install" "$work/a place/moved/bin/inflight" "$2"
says "cuBLAS" 0 '^cuBLAS 0 6.0$' bare "$work/a place/moved/bin/inflight" run python3 "$here/product.py"
page=$work/a\ place/moved/share/man/man1/inflight.1.gz
gzip -dc "$page" | sed 's/\\-/-/g' >"$work/page"
for command in run check merge ptx devices swizzle env; do
  for option in $("$work/a place/moved/bin/inflight" $command --help | grep -oE '^ +(-[a-z],)?--[a-z-]+' | grep -oE -- '--.*'); do
    grep -qE "^\.B (-[a-z],)?$option( |$)" "$work/page" || fail "the man page lacks $command $option"
  done
done
! type -P man >/dev/null || says "man page" 0 '^EXIT STATUS' man -l "$page"

# completes WANTED WORD...: checks what bash offers for the last word of a command line.
completes() {
  local wanted=$1
  shift
  says "bash completes $*" 0 "^$wanted$" env PATH="$work/a place/moved/bin:$PATH" bash -c '
    source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _inflight; echo "${COMPREPLY[*]}"' - \
    "$work/a place/moved/share/bash-completion/completions/inflight" "$@"
}
completes check inflight che
completes '--suppressions' inflight check --su
completes h200 inflight run --device h2
completes "$work/page" inflight run --device h200 "$work/page" "$work/pag"
grep -rIl "$root" "$work/a place/moved" && fail "these files name the source tree"
finish
