#!/usr/bin/env bash
# inflight env: the variables for builds and shells.
. "$(dirname "$0")/lib.sh"
expect "the flag for nvcc" 0 "^export NVCC_APPEND_FLAGS='-cudart shared -lineinfo'$" "$inflight" env
expect "where -lcudart is found" 0 "^export LIBRARY_PATH='/" "$inflight" env
expect "the libraries" 0 "^export LD_LIBRARY_PATH='/" "$inflight" env
expect "the loader's module" 0 "^export LD_AUDIT='/.*/libinflight_audit.so'$" "$inflight" env
expect "the package for Python" 0 "^export PYTHONPATH='/.*/lib/python'$" "$inflight" env
expect "what PyTorch's extensions are built for" 0 "^export TORCH_CUDA_ARCH_LIST='9.0\+PTX'$" "$inflight" env
expect "what JAX keeps its PTX with" 0 "^export XLA_FLAGS='--xla_gpu_generate_line_info=true --mine'$" \
  env XLA_FLAGS=--mine "$inflight" env
expect "how JAX takes memory" 0 "^export XLA_PYTHON_CLIENT_PREALLOCATE='false'$" "$inflight" env
expect "what the CuTe DSL keeps its PTX with" 0 "^export CUTE_DSL_LINEINFO='1'$" "$inflight" env
expect "the assembler of Triton" 0 "^export TRITON_PTXAS_PATH='/.*/libexec/inflight/ptxas'$" "$inflight" env
expect "cmake's argument" 0 '^-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared$' "$inflight" env --cmake

# A shell evaluates it and keeps its previous values. A second evaluation changes nothing.
once=$(NVCC_APPEND_FLAGS=-O1 PATH=/bin:/usr/bin bash -c 'eval "$("$0" env)"; echo "$NVCC_APPEND_FLAGS|$LD_LIBRARY_PATH|$PATH|$LD_AUDIT"' "$inflight")
twice=$(NVCC_APPEND_FLAGS=-O1 PATH=/bin:/usr/bin bash -c 'eval "$("$0" env)"; eval "$("$0" env)"; echo "$NVCC_APPEND_FLAGS|$LD_LIBRARY_PATH|$PATH|$LD_AUDIT"' "$inflight")
[ "$once" = "$twice" ] || fail "taken twice it changes: $once, then $twice"
[[ $once == "-O1 -cudart shared -lineinfo|"*":/bin:/usr/bin|"*/libinflight_audit.so ]] || fail "it lost what was there: $once"

# value_of VARIABLE SETTING: the value that it prints for the variable.
value_of() {
  env "$2" "$inflight" env 2>/dev/null | sed -n "s/^export $1='\(.*\)'$/\1/p"
}
# Inflight's folder comes first, once, and what was there follows in its order.
for variable in LIBRARY_PATH LD_LIBRARY_PATH; do
  own=$(value_of $variable $variable=)
  [ -e "$own/libcudart.so.13" ] || fail "the only folder in $variable has no libcudart.so.13: $own"
  got=$(value_of $variable "$variable=/one:$own:/two")
  [ "$got" = "$own:/one:/two" ] || fail "the order in $variable: $got"
done
got=$(value_of LD_AUDIT LD_AUDIT=/one.so:/elsewhere/libinflight_audit.so:/two.so)
[ "$got" = "$own/libinflight_audit.so:/one.so:/two.so" ] || fail "the order in LD_AUDIT: $got"

expect "the command is in that PATH" 0 '^inflight ' \
  env PATH=/bin:/usr/bin bash -c 'eval "$("$0" env)"; inflight --version' "$inflight"
finish
