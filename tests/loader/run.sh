#!/usr/bin/env bash
# Programs reach the software GPU however they were linked: run.sh INFLIGHT FOLDER RUNTIME. FOLDER
# has the programs. RUNTIME is NVIDIA's own libcudart.so.13.
. "$(dirname "$0")/../cli/lib.sh"
inflight=$(realpath "$1") bin=$(realpath "$2") runtime=$3
export INFLIGHT_PROGRESS=0
unset LD_AUDIT LD_LIBRARY_PATH

plain='before main: 1
thread: 0
thread: 1
thread: 2
thread: 3
device: NVIDIA H200
last error: no error
kernel: 32 threads
atexit: 38
destructor: cudaSuccess'
# whole NAME OUTPUT COMMAND...: the command exits with 0, prints exactly OUTPUT, and no error.
whole() {
  local name=$1 wanted=$2
  shift 2
  expect "$name" 0 '' "$@"
  [ "$output" = "$wanted" ] || fail "$name: printed: $output"
}
whole "nvcc's default" "$plain" "$inflight" run "$bin/plain"
whole "at fixed addresses, bound at the start" "$plain" "$inflight" run "$bin/fixed"
whole "separate compilation" 'units: 42 cudaSuccess' "$inflight" run "$bin/units"
whole "no kernels" 'devices: 1, runtime 13' "$inflight" run "$bin/runtime_only"
whole "a path to NVIDIA's runtime" "$plain" "$inflight" run "$bin/rpath"
whole "objects loaded, closed and loaded again" $'1\n11\n12\n22\n23\n33' \
  "$inflight" run "$bin/host" "$bin/one.so" "$bin/ten.so"
whole "objects with the shared runtime" $'5\n10\n15\n20\n25\n30' \
  "$inflight" run "$bin/host" "$bin/shared.so" "$bin/shared.so"
whole "a runtime that a wheel renamed" $'3\n6\n9\n12\n15\n18' \
  "$inflight" run "$bin/host" "$bin/wheel.so" "$bin/wheel.so"
whole "it and others" $'5\n8\n13\n16\n21\n24' \
  "$inflight" run "$bin/host" "$bin/shared.so" "$bin/wheel.so"

# Each copy of the runtime has last errors of its own.
whole "last errors of static runtimes" 'at first: 0 0 0
one fails: 0 101 0
the program fails: 2 101 0
and again, after a text: 1 101 0
another thread: 0 0 0
one'\''s is 101
one is asked: 1 0 0
the other fails, and does not: 1 0 101
the program'\''s is 1
the program is asked: 0 0 101' "$inflight" run "$bin/last_errors" "$bin/static_errors1.so" "$bin/static_errors2.so"
whole "last errors of the shared runtime" 'at first: 0 0 0
one fails: 0 101 101
the program fails: 2 101 101
and again, after a text: 1 101 101
another thread: 0 0 0
one'\''s is 101
one is asked: 1 0 0
the other fails, and does not: 1 101 101
the program'\''s is 1
the program is asked: 0 101 101' "$inflight" run "$bin/last_errors" "$bin/shared_errors1.so" "$bin/shared_errors2.so"

whole "a shell's child" "$plain" "$inflight" run bash -c "'$bin/plain'"
printf 'all:\n\t@%s\n' "$bin/plain" >"$work/Makefile"
whole "make's child" "$plain" "$inflight" run make -s -C "$work"
whole "a command inside another" "$plain" "$inflight" run "$inflight" run "$bin/plain"
whole "the options of both" 'device: NVIDIA A100-SXM4-80GB' \
  bash -c '"$0" run --device a100 bash -c "$1" | grep device' "$inflight" "$bin/plain"
whole "a shell that took its variables" "$plain" \
  bash -c 'eval "$("$0" env)"; "$1"' "$inflight" "$bin/plain"
whole "a relative path of the module" "$plain" \
  bash -c 'cd "$(dirname "$0")/.." && LD_AUDIT=lib/libinflight_audit.so "$1"' "$inflight" "$bin/plain"

# However a program starts others, and with any environment.
for how in execve execle execvpe fexecve execveat vfork posix_spawn posix_spawnp system popen; do
  whole "$how with an environment of its own" "$plain" "$inflight" run "$bin/starter" "$how" "$bin/plain"
done
whole "a cleared environment" "$plain" "$inflight" run env -i "$bin/plain"
whole "a cleared environment's children" "$plain" "$inflight" run env -i /bin/sh -c "env -i '$bin/plain'"
whole "make in one" "$plain" "$inflight" run env -i "$(type -P make)" -s -C "$work"
whole "the options there" 'device: NVIDIA A100-SXM4-80GB' \
  bash -c '"$0" run --device a100 env -i "$1" | grep device' "$inflight" "$bin/plain"
whole "what it sets itself" 'device: NVIDIA B200' \
  bash -c '"$0" run --device a100 env -i INFLIGHT_DEVICE=b200 "$1" | grep device' "$inflight" "$bin/plain"
whole "nothing that was not ours" $'A=1\nCUTE_DSL_LINEINFO\nLD_AUDIT\nTORCH_CUDA_ARCH_LIST\nXLA_FLAGS\nXLA_PYTHON_CLIENT_PREALLOCATE' \
  bash -c 'B=2 "$0" run env -i A=1 env | sed "/^INFLIGHT_/d; /^TRITON_/d; /^A/!s/=.*//" | sort' "$inflight"
whole "where the module is refused" 'LD_AUDIT=' "$inflight" run env -i LD_AUDIT= env
whole "what cannot be started" 'No such file or directory' "$inflight" run "$bin/starter" execve "$work/gone"

if python=$(type -P python3); then
  # The files are not there on a machine without a GPU. A GPU's machine has no more than some.
  whole "the files of GPUs" 'True True True False False' "$inflight" run --devices 40 "$python" -c "
import os
print(*[os.path.exists('/dev/nvidia' + each) for each in ('ctl', '0', '39', '40', '')])"
  whole "Python's child with an environment of its own" "$plain" "$inflight" run "$python" -c "
import subprocess; subprocess.run(['$bin/plain'], check=True, env={})"
  whole "an extension of Python's" $'1\n11\n12' "$inflight" run "$python" -c "
import ctypes, subprocess, sys
one, ten = ctypes.CDLL('$bin/one.so'), ctypes.CDLL('$bin/ten.so')
one.extension_make.restype = ctypes.c_void_p
memory = ctypes.c_void_p(one.extension_make(8))
for each in one, ten, one: print(each.extension_add(memory, 8), flush=True)"
  whole "a child of Python's" "$plain" "$inflight" run "$python" -c "
import subprocess; subprocess.run(['$bin/plain'], check=True)"
  whole "cublasLt's names in cuBLAS, as in NVIDIA's" $'True\nTrue' "$inflight" run "$python" -c "
import ctypes
for each in 12, 13: print(bool(ctypes.CDLL(f'libcublas.so.{each}').cublasLtMatmul))"
  whole "NVIDIA's runtime by its path" '0 1' "$inflight" run "$python" -c "
import ctypes
count = ctypes.c_int()
print(ctypes.CDLL('$runtime').cudaGetDeviceCount(ctypes.byref(count)), count.value)"
fi

# A runtime without names is recognized by its code.
whole "stripped" "$plain" "$inflight" run "$bin/stripped"
cp "$bin/one.so" "$work/hidden.so"
cp "$bin/runtime_only" "$work/hidden"
strip "$work/hidden.so" "$work/hidden"
whole "a stripped object" $'1\n2\n3\n4\n5\n6' "$inflight" run "$bin/host" "$work/hidden.so" "$bin/one.so"
whole "a stripped program without kernels" 'devices: 1, runtime 13' "$inflight" run "$work/hidden"

# Programs that cannot be reached get one message with advice. Another instruction of no effect
# between two functions makes the code that of no known release.
between='\x5d\xc3\x66\x0f\x1f\x44\x00' after='\x48\x83\xec\x08\x44\x8b\x4d\xbc'
for each in "$bin/stripped" "$work/hidden.so"; do
  LC_ALL=C sed "s/$between\x00$after/$between\x01$after/g" "$each" >"$work/unknown_$(basename "$each")"
done
chmod +x "$work/unknown_stripped"
if cmp -s "$bin/stripped" "$work/unknown_stripped"; then
  echo "This nvcc's runtime is not that of CUDA 13.0, of which one of no known release is made."
else
  expect "of no known release" 0 "^inflight: '.*/unknown_stripped' contains NVIDIA's static CUDA runtime, stripped and of an unknown release" \
    "$inflight" run "$work/unknown_stripped"
  grep -q 'NVCC_APPEND_FLAGS="-cudart shared"' <<<"$output" || fail "of no known release: not what to do: $output"
  expect "such an object, at its first call" 0 "unknown_hidden.so contains .*from source" \
    "$inflight" run "$bin/host" "$work/unknown_hidden.so" "$bin/one.so"
fi
# A sandbox may forbid the filter itself.
if "$bin/without_executable_memory" /bin/true; then
  expect "no executable memory" 0 "^inflight: the static CUDA runtime in '.*/runtime_only' cannot be replaced, because this host has no" \
    "$inflight" run "$bin/without_executable_memory" "$bin/runtime_only"
fi
# An installation without the loader's module.
mkdir -p "$work/half/bin" "$work/half/lib"
cp "$inflight" "$work/half/bin"
cp "$(dirname "$(dirname "$inflight")")"/lib/lib{inflight_gpu.so,cudart.so.13,cuda.so.1} "$work/half/lib"
expect "no module" 0 "^inflight: .*/plain contains .* this installation .* lacks that file" \
  "$work/half/bin/inflight" run "$bin/plain"
grep -q 'stripped and of an unknown release' <<<"$output" && fail "no module: it is taken for stripped: $output"
# A build with only the parts of the demo.
build=$(dirname "$(dirname "$inflight")")
mkdir -p "$work/small/bin" "$work/small/lib"
cp "$inflight" "$work/small/bin"
cp "$build"/lib/libinflight_{audit,gpu}.so "$build"/lib/libcudart.so.13 "$work/small/lib"
whole "the demo's build" "$plain" "$work/small/bin/inflight" run "$bin/plain"
if [ -n "${python:-}" ]; then
  expect "what it lacks" 0 "^inflight: this build of the software GPU has no libcuda.so.1, .*'make build' adds it" \
    "$work/small/bin/inflight" run "$python" -c "
import ctypes
for each in 1, 2:
  try: ctypes.CDLL('libcuda.so.1')
  except OSError: pass"
  [ "$(grep -c 'has no libcuda' <<<"$output")" = 1 ] || fail "what it lacks is not said once: $output"
fi
finish
