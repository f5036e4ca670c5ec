#!/usr/bin/env bash
# The wheel in every place where pip installs it: wheel.sh PROGRAM NVCC CMAKE
. "$(dirname "$0")/lib.sh"
program=$1
wheel=$(echo "$packages"/inflight-*.whl)
[ -f "$wheel" ] || { echo "skipped: there is no wheel in $packages (make package)"; exit 77; }
[[ $wheel == *"/inflight-$version-py3-none-manylinux_2_"*"_x86_64.whl" ]] || fail "its name is $wheel"
export PIP_BREAK_SYSTEM_PACKAGES=1 PIP_DISABLE_PIP_VERSION_CHECK=1
install() { "$@" install --quiet --no-index --no-deps "$wheel" || fail "pip could not install it: $*"; }

# A virtual environment in a path with spaces.
python3 -m venv "$work/an environment"
install "$work/an environment/bin/python" -m pip
bin="$work/an environment/bin"
works "in an environment" "$bin/inflight" "$program"
BARE_PATH=$bin:/usr/bin:/bin
works "by name" inflight "$program"
says "python -m" 0 "^inflight $version$" bare python -m inflight --version
says "the package" 0 "^$version .*/site-packages/inflight/__init__.py$" bare python -c \
  'import importlib.metadata, inflight, inflight.torch; print(importlib.metadata.version("inflight"), inflight.__file__)'
says "the package for another Python" 0 '/installed/lib/inflight/python/inflight/torch/' bare inflight run /usr/bin/env -u VIRTUAL_ENV \
  python3 -c 'import inflight.torch; print(inflight.torch.__file__)'
says "what Triton is told" 0 '^export TRITON_PTXAS_PATH=.*/libexec/inflight/ptxas' bare inflight env
says "cuBLAS" 0 '^cuBLAS 0 6.0$' bare inflight run python3 "$here/product.py"
says "the assembler" 0 'Cuda compilation tools' bare sh -c 'eval "$(inflight env)"; "$TRITON_PTXAS_PATH" --version'

# The wheel contains every library that a bare system lacks, renamed, with its licence.
installed=$("$bin/python" -c 'import inflight, os; print(os.path.dirname(inflight.__file__))')
for each in "$installed"/../inflight.libs/*; do
  name=$(basename "$each" | sed -E 's/-.*//')
  ls "$installed"/installed/share/doc/inflight/bundled/"$name"* >/dev/null 2>&1 || fail "no licence for $name"
done
find "$installed" -type f -perm -u+x -exec sh -c 'ldd "$1" 2>/dev/null | sed "s|^|$1: |"' - {} \; >"$work/needs"
grep 'not found' "$work/needs" && fail "what these need is missing"
grep -E '=> ' "$work/needs" | grep -vE '=> (/lib/|/usr/lib/)x86_64-linux-gnu/(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)\.so|=> .*inflight' &&
  fail "these libraries are the system's"

# Other places.
PYTHONUSERBASE=$work/user python3 -m pip install --quiet --no-index --no-deps --user "$wheel" || fail "pip install --user"
says "pip install --user" 0 '^right$' bare PYTHONUSERBASE="$work/user" PATH="$(dirname "$(readlink -f "$(type -P python3)")"):/usr/bin:/bin" \
  "$work/user/bin/inflight" run "$program"
python3 -m pip install --quiet --no-index --no-deps --target "$work/target" "$wheel" || fail "pip install --target"
says "pip install --target" 0 '^right$' bare PYTHONPATH="$work/target" "$work/target/bin/inflight" run "$program"

# CMake finds the headers through the command.
"$root/tests/library/consumer/check" installed "CXX;CUDA" "$root" "$2" "$3" "$bin/inflight" || fail "find_package(inflight)"
finish
