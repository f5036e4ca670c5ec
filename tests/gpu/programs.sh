# Functions that build and run the programs of tests/kernels and tests/gpu on a machine with a GPU.
# Sourced from the repository's root. Defines only functions.
. tests/kernels/header.sh

# build SOURCE PROGRAM: with nvcc's default runtime, as for a GPU.
build() {
  local source=$1 program=$2 folder arch other
  folder=$(dirname "$source")
  arch=$(header arch)
  local parts=("$source")
  for other in $(header with); do parts+=("$folder/$other"); done
  # shellcheck disable=SC2046
  nvcc -std=c++17 -lineinfo -arch="${arch:-sm_90}" -diag-suppress=20054 -I. -Iinclude $(header flags) \
    "${parts[@]}" -o "$program" || return
  [ -z "$(header library)" ] ||
    nvcc -std=c++17 -arch="${arch:-sm_90}" -I. -Iinclude -Xcompiler -fPIC -shared "$folder/$(header library)" \
      -o "$program.so"
}

# run_program SOURCE PROGRAM: prints its output on standard output and returns its exit status.
run_program() {
  local source=$1 program=$2
  read -ra arguments <<<"$(header args)"
  [ -z "$(header library)" ] || arguments+=("$program.so")
  timeout 60 "$program" "${arguments[@]}"
}

# Prints the sources whose expected output a GPU writes, one per line.
sources_for_gpu() {
  local source
  for source in tests/kernels/*.cu tests/gpu/*.cu; do
    marked software-only || echo "$source"
  done
}

# build_all FOLDER: builds every program, as many at a time as there are cores. Names those that
# fail.
build_all() {
  local folder=$1
  export -f build header headers
  sources_for_gpu | xargs -P "$(nproc)" -I{} bash -c \
    'build "{}" "$0/$(basename "{}" .cu)" >"$0/$(basename "{}" .cu).log" 2>&1 || echo "does not build: {}"' "$folder"
}
