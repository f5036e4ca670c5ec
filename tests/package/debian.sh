#!/usr/bin/env bash
# The packages on a bare Debian 12: the wheel, then the Debian package. debian.sh PROGRAM NVCC CMAKE FROM, where FROM is
#   debootstrap  a system from Debian's archive, on which the package is installed as the Containerfile does it
#   here         one of packages that this machine has, for which nothing is fetched
. "$(dirname "$0")/lib.sh"
skip() { echo "skipped: $*"; exit 77; }
deb=$(echo "$packages"/inflight_*.deb)
wheel=$(echo "$packages"/inflight-*.whl)
[ -f "$deb" ] || skip "there is no package in $packages (make package)"
[ "$(dpkg-deb -f "$deb" Version)" = "$version" ] || fail "the version of $deb"
dpkg-deb -x "$deb" "$work/unpacked"
"$root/tests/library/consumer/check" installed CUDA "$root" "$2" "$3" "$work/unpacked/usr/bin/inflight" || fail "find_package(inflight)"

[ "$(id -u)" = 0 ] || skip "a bare system is made as root"
unshare --mount true 2>/dev/null || skip "it may not make namespaces"
origin=$4
base=$root/build/bare
if [ "$origin" = debootstrap ] && [ ! -f "$base/.complete" ]; then
  type -P debootstrap >/dev/null || skip "there is no debootstrap"
  rm -rf "$base"
  debootstrap --variant=minbase --include=python3,python3-venv bookworm "$base" >"$work/debootstrap.log" 2>&1 ||
    skip "debootstrap: $(tail -1 "$work/debootstrap.log")"
  touch "$base/.complete"
fi
# starts_with PACKAGE...: the packages of the next system, if it is made from this machine's.
starts_with() {
  [ "$origin" = here ] || return 0
  base=$(mktemp -d "$work/base.XXX") && chmod 755 "$base"
  local lacks
  lacks=$("$here/bare_system.py" "$base" "$@") || skip "$lacks"
}

# Each package gets its own system on top of that one: system NAME STEPS. STEPS is a function that
# runs in namespaces which end with it.
export -f fail says works bare finish skip
export here root packages version work wheel deb origin
system() {
  local name=$1 steps=$2
  mkdir -p "$work/$name"
  program=$program steps=$steps base=$base unshare --mount bash -c '
    set -u; failures=0
    if [ "$origin" = here ]; then
      system=$base
      : >"$system/dev/null" && mount --bind /dev/null "$system/dev/null" || exit 1
    else
      mount -t tmpfs tmpfs "$work/'"$name"'" && mkdir "$work/'"$name"'"/{upper,scratch,root} || exit 1
      system=$work/'"$name"'/root
      mount -t overlay overlay -o "lowerdir=$base,upperdir=$system/../upper,workdir=$system/../scratch" "$system" || exit 1
    fi
    mount -t proc proc "$system/proc"
    cp /etc/resolv.conf "$system/etc/resolv.conf"
    for each in /etc/apt/apt.conf.d/*proxy*; do [ ! -f "$each" ] || cp "$each" "$system/etc/apt/apt.conf.d"; done
    mkdir -p "$system/trial"; cp "$program" "$system/trial/program"; cp "$here/product.py" "$system/trial"
    inside=(env -i PATH=/opt/inflight/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$system")
    eval "$steps"
    exit "$failures"'
}
program=$1

wheel_steps='
  cp "$wheel" "$system/tmp"
  "${inside[@]}" sh -c "ldconfig -p | grep -E \"libtbb|libfmt|g\\+\\+\"; type gcc g++ cc" >/dev/null && fail "the system is not bare"
  "${inside[@]}" python3 -m venv /opt/inflight
  "${inside[@]}" /opt/inflight/bin/pip install --quiet --no-index "/tmp/${wheel##*/}" || fail "pip install"
  works "the wheel" inflight /trial/program
  says "cuBLAS without a BLAS" 0 "^inflight: .*apt-get install libopenblas0-pthread" "${inside[@]}" inflight run python3 /trial/product.py
  says "the package" 0 "^torch/__init__.py$" "${inside[@]}" inflight run python3 -c "import inflight.torch; print(inflight.torch.__file__[-17:])"
'
starts_with apt python3 python3-venv
system wheel "$wheel_steps" || fail "the wheel on a bare system"

# The steps of the Containerfile: its COPY, its RUN, and its ENTRYPOINT as the command.
copied=$(sed -n 's/^COPY \(\S*\) .*/\1/p' "$packages/Containerfile")
# shellcheck disable=SC2053
[[ ${deb##*/} == $copied ]] || fail "the Containerfile copies $copied"
run=$(sed -n 's/^RUN //p' "$packages/Containerfile")
[ "$origin" = debootstrap ] || run='dpkg -i /tmp/inflight_*.deb'
export run
entry=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]$/\1/p' "$packages/Containerfile") && export entry
container_steps='
  cp "$deb" "$system/tmp"
  "${inside[@]}" env DEBIAN_FRONTEND=noninteractive sh -c "$run" >"$work/run.log" 2>&1 || fail "RUN: $(tail -5 "$work/run.log")"
  works "the Debian package" "$entry" /trial/program
  says "cuBLAS" 0 "^cuBLAS 0 6.0$" "${inside[@]}" "$entry" run python3 /trial/product.py
  says "its files" 0 "^/usr/share/doc/inflight/copyright$" "${inside[@]}" dpkg -L inflight
  "${inside[@]}" sh -c "ldconfig -p | grep -E \"libcuda|inflight\"" && fail "the loader finds our libraries without the command"
  says "removed" 0 "^$" "${inside[@]}" sh -c "dpkg -r inflight >/dev/null && ls -d /usr/lib/inflight /usr/bin/inflight 2>/dev/null; echo"
'
mapfile -t needs < <(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/ (.*//; s/ //g')
starts_with apt python3 libopenblas0-pthread "${needs[@]}"
system container "$container_steps" || fail "the Debian package on a bare system"

# Also runs a container builder, if there is one, with the same bare system instead of the
# registry's image.
if [ "$origin" = debootstrap ] && type -P buildah >/dev/null; then
  images=(buildah --storage-driver vfs --root "$work/images" --runroot "$work/running")
  build() {
    local container
    tar -C "$base" --exclude='./proc/*' --exclude=./.complete -cf "$work/base.tar" . &&
      container=$("${images[@]}" from scratch) && "${images[@]}" add "$container" "$work/base.tar" / &&
      "${images[@]}" commit "$container" docker.io/library/debian:12-slim && rm "$work/base.tar" &&
      "${images[@]}" bud --isolation chroot --pull-never -t inflight -f "$packages/Containerfile" "$packages" &&
      container=$("${images[@]}" from --pull-never localhost/inflight) &&
      "${images[@]}" copy "$container" "$program" /trial/program && echo "$container" >"$work/image"
  }
  if build >"$work/build.log" 2>&1; then
    container=$(cat "$work/image")
    # Writes to a file, because buildah loses the end of a program's output.
    told() {
      "${images[@]}" run --isolation chroot "$container" -- sh -c '"$@" >/trial/told 2>&1; echo "status $?" >>/trial/told' - "$@" >/dev/null 2>&1
      cat "$("${images[@]}" mount "$container")/trial/told"
    }
    says "the image: run" 0 '^right$' told inflight run ./program
    says "the image: check finds" 0 '^status 86$' told inflight check ./program race
  else
    fail "the Containerfile: $(tail -5 "$work/build.log")"
  fi
  "${images[@]}" rm --all >/dev/null
fi
finish
