#!/usr/bin/env bash
# inflight run: exit status, arguments, variables, and programs that cannot run.
. "$(dirname "$0")/lib.sh"
cat >"$work/program" <<'P'
#!/bin/sh
echo "arguments: $*"
env | grep -E '^(INFLIGHT_|LD_|TRITON_|PYTHONPATH|TORCH_)' | sort
exit 17
P
chmod +x "$work/program"

expect "the program's exit status" 17 'arguments: $' "$inflight" run "$work/program"
expect "the library path" 17 '^LD_LIBRARY_PATH=/.*lib' "$inflight" run "$work/program"
expect "an older library path stays" 17 '^LD_LIBRARY_PATH=/.*:/old$' \
  env LD_LIBRARY_PATH=/old "$inflight" run "$work/program"
expect "the loader's module" 17 '^LD_AUDIT=/.*/libinflight_audit.so$' "$inflight" run "$work/program"
expect "the package for Python" 17 '^PYTHONPATH=/.*/lib/python:/mine$' \
  env PYTHONPATH=/mine "$inflight" run "$work/program"
expect "a package that Python imports" 0 '^/.*/lib/python/inflight/__init__.py$' \
  "$inflight" run python3 -c 'import inflight; print(inflight.__file__)'
expect "what PyTorch's extensions are built for" 17 '^TORCH_CUDA_ARCH_LIST=8.0\+PTX$' \
  "$inflight" run --device a100 "$work/program"
expect "what the user builds PyTorch's extensions for" 17 '^TORCH_CUDA_ARCH_LIST=8.6$' \
  env TORCH_CUDA_ARCH_LIST=8.6 "$inflight" run "$work/program"
expect "another's module stays" 17 '^LD_AUDIT=/.*/libinflight_audit.so:/other.so$' \
  bash -c 'LD_AUDIT=/gone/libinflight_audit.so:/other.so "$0" run "$1" 2>/dev/null' "$inflight" "$work/program"
expect "a library path that has it already" 17 '^LD_LIBRARY_PATH=[^:]*$' \
  env -u LD_LIBRARY_PATH "$inflight" run "$inflight" run "$work/program"
expect "what nvcc keeps its PTX with" 0 '^-lineinfo$' "$inflight" run sh -c 'echo "$NVCC_APPEND_FLAGS"'
expect "the user's flags for nvcc" 0 '^-O1 -lineinfo$' \
  env NVCC_APPEND_FLAGS=-O1 "$inflight" run "$inflight" check sh -c 'echo "$NVCC_APPEND_FLAGS"'
expect "a flag that is there" 0 '^-lineinfo -O1$' \
  env NVCC_APPEND_FLAGS='-lineinfo -O1' "$inflight" run sh -c 'echo "$NVCC_APPEND_FLAGS"'
for variable in TRITON_PTXAS_PATH TRITON_PTXAS_BLACKWELL_PATH; do
  expect "the assembler of Triton" 17 "^$variable=/.*/libexec/inflight/ptxas\$" \
    env -u $variable "$inflight" run "$work/program"
  expect "an assembler of the user's" 17 "^$variable=/mine\$" \
    env $variable=/mine "$inflight" run "$work/program"
done
expect "arguments are the program's" 17 '^arguments: --help -x --device h100 --$' \
  "$inflight" run "$work/program" --help -x --device h100 --
expect "two dashes before the program" 17 '^arguments: --async 3$' \
  "$inflight" run --device a100 -- "$work/program" --async 3
expect "a program found in PATH" 17 '^arguments: a b$' \
  env PATH="$work:$PATH" "$inflight" run program a b
expect "a program with a subcommand's name" 0 '^INFLIGHT_DEVICE=a100$' \
  "$inflight" run --device a100 env
expect "such a program after two dashes" 0 '^INFLIGHT_DEVICE=a100$' \
  "$inflight" run --device a100 -- env --
expect "a signal" 134 '' bash -c '"$0" run sh -c "kill -ABRT \$\$"; exit $?' "$inflight"

isa=$("$inflight" run --isa none "$work/program" 2>&1 | sed -n "s/.*it takes \([a-z0-9]*\).*/\1/p")
expect "an unknown instruction set" 2 '^inflight: --isa is .none., but it takes .*: this build contains' \
  "$inflight" run --isa none "$work/program"
for pair in "--isa $isa:INFLIGHT_ISA=$isa" '--device a100:INFLIGHT_DEVICE=a100' '--devices 3:INFLIGHT_DEVICES=3' '--driver 13.4:INFLIGHT_DRIVER=13.4' \
  '--async early:INFLIGHT_ASYNC=early' '--async=shuffled:7:INFLIGHT_ASYNC=shuffled:7' \
  '--timeout 2.5:INFLIGHT_TIMEOUT=2.5' '--workers 1:INFLIGHT_WORKERS=1' '--slack 512:INFLIGHT_SLACK=512' '--memory 16G:INFLIGHT_MEMORY=16G' '--turns random:9:INFLIGHT_TURNS=random:9' '--compile auto:INFLIGHT_COMPILE=auto' \
  '--stats:INFLIGHT_STATS=1' '--strict:INFLIGHT_STRICT=1' '--fidelity:INFLIGHT_FIDELITY=1' '--blas libblas.so:INFLIGHT_BLAS=libblas.so' '--fft libfftw3.so:INFLIGHT_FFT=libfftw3.so' \
  '--stats=/tmp/x.json:INFLIGHT_STATS=/tmp/x.json' '--no-progress:INFLIGHT_PROGRESS=0'; do
  option=${pair%:INFLIGHT*} variable=INFLIGHT${pair##*:INFLIGHT}
  # shellcheck disable=SC2086
  expect "$option" 17 "^$variable\$" "$inflight" run $option "$work/program"
done
expect "a variable stays as it is" 17 '^INFLIGHT_DEVICE=b200$' \
  env INFLIGHT_DEVICE=b200 "$inflight" run "$work/program"

expect "no program" 2 'needs a program' "$inflight" run
expect "no program after options" 2 'needs a program' "$inflight" run --device h100 --
expect "a program that is not there" 127 "program '.*/nothing' not found" "$inflight" run "$work/nothing"
expect "a name that is nowhere" 127 "program 'no-such-thing' not found" "$inflight" run no-such-thing
cd "$work" || exit
expect "a program in this folder" 127 '^ *Did you mean ./program\?' "$inflight" run program
expect "the same to check" 127 '^ *Did you mean ./program\?' "$inflight" check program
expect "a slip in a program's name" 127 '^ *Did you mean ./program\?' "$inflight" run ./progrma
expect "a source that is not there" 127 "^ *vec.cu is source code: nvcc -lineinfo -o vec vec.cu, then 'inflight run ./vec'" \
  "$inflight" run vec.cu
touch vec.cu script.py k.ptx
expect "a source" 126 "^ *./vec.cu is source code" "$inflight" run ./vec.cu
expect "a script" 126 "^ *./script.py is a Python script: 'inflight run python3 ./script.py'" "$inflight" check ./script.py
expect "PTX" 126 "'inflight ptx ./k.ptx' shows" "$inflight" run ./k.ptx
cd - >/dev/null || exit
for pair in nsys:--stats ncu:--stats nvprof:--stats cuda-gdb:printf compute-sanitizer:'inflight check'; do
  expect "what serves instead of ${pair%%:*}" 127 "${pair#*:}" env PATH=/nowhere "$inflight" run "${pair%%:*}" ./vec
done
ln -s "$work/program" "$work/nsys"
expect "a profiler that is there" 17 '^ *A software GPU has no times' env PATH="$work:$PATH" "$inflight" run nsys
touch "$work/plain"
expect "a file that is no program" 126 'cannot be run: ' "$inflight" run "$work/plain"
expect "a folder" 127 'not found' "$inflight" run "$work"
expect "an unknown option" 2 '^inflight: .*--bogus' "$inflight" run --bogus "$work/program"
expect "a bad order of copies" 2 "^inflight: --async is 'soon', but it takes early" \
  "$inflight" run --async soon "$work/program"
expect "a bad seed" 2 'shuffled:SEED' "$inflight" run --async shuffled:x "$work/program"
expect "a turn of nothing" 2 "^inflight: --turns is '0', but it takes a number of instructions from 1" \
  "$inflight" run --turns 0 "$work/program"
expect "an unknown engine" 2 "^inflight: --compile is 'yes', but it takes always, auto" \
  "$inflight" run --compile yes "$work/program"
expect "a bad seed of turns" 2 'random:SEED' "$inflight" run --turns random "$work/program"
expect "a bad number" 2 '^inflight: --devices is ' "$inflight" run --devices 0 "$work/program"
expect "a bad size of memory" 2 '^inflight: --memory is .16X., but it takes a number of bytes' \
  "$inflight" run --memory 16X "$work/program"
expect "a bad timeout" 2 '^inflight: --timeout is ' "$inflight" run --timeout -1 "$work/program"
expect "a bad report" 2 '^inflight: --stats is ' "$inflight" run --stats=report.txt "$work/program"
expect "an unknown device" 2 "device 'h300' not found; did you mean h[12]00" "$inflight" run --device h300 "$work/program"
expect "a bad variable" 2 '^inflight: INFLIGHT_WORKERS is ' \
  env INFLIGHT_WORKERS=many "$inflight" run "$work/program"

# A program with device code linked without a dynamic loader, and one whose static runtime has no
# names. tests/loader runs those that work.
printf 'int main() { return 5; }\n' >"$work/static.cpp"
printf '.section .nv_fatbin,"a"\n.quad 0\n.section .note.GNU-stack,"",@progbits\n' >"$work/fatbin.s"
g++ -static "$work/static.cpp" "$work/fatbin.s" -o "$work/static"
expect "no dynamic loader" 5 'link it without -static' "$inflight" run "$work/static"
g++ "$work/static.cpp" "$work/fatbin.s" -o "$work/stripped"
expect "a runtime without names" 5 'NVCC_APPEND_FLAGS="-cudart shared"' "$inflight" run "$work/stripped"
for sanitizer in thread leak address; do
  g++ -fsanitize=$sanitizer "$work/static.cpp" -o "$work/sanitized"
  expect "the sanitizer of $sanitizer" 5 '^$' "$inflight" run "$work/sanitized"
done
printf 'int main() { return 5; }\n' >"$work/host.cpp"
g++ "$work/host.cpp" -o "$work/host"
expect "a program without device code" 5 '^$' "$inflight" run "$work/host"
finish
