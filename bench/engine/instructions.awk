# The common part of all tables: the kernels' columns, and the instructions that a launch executes.

# The number of instructions that all threads execute in nvcc 13.0's PTX (-arch=compute_80) of
# kernels.cuh, with parameters, moves, branches and returns.
function instructions(kernel, size,    bits, passes) {
  if (kernel == "saxpy") return size * 20
  if (kernel == "sgemm") return size * size * (39 + 63 * size / 16)
  if (kernel == "reduce") return size * 42 + size / 256 * (255 * 4 + 5)
  bits = int(log(size) / log(2) + 0.5)
  passes = bits * (bits + 1) / 2
  return passes * (size * 11 + size / 2 * 12) + 2 * exchanges[size]
}

function column_of(kernel, size) {
  if (kernel == "bitonic" && size > 65536) return kernel "_large"
  if (kernel != "sgemm") return kernel
  return kernel (size == 256 || size == 64 ? "_small" : "_large")
}

BEGIN {
  # The number of exchanges when the kernel sorts workload.hpp's keys.
  exchanges[65536] = 2228074
  exchanges[1024] = 14084
  exchanges[1048576] = 55055255
  columns = split("saxpy sgemm_small sgemm_large reduce bitonic", column, " ")
  title["saxpy"] = "saxpy"; title["sgemm_small"] = "sgemm 256"; title["sgemm_large"] = "sgemm 512"
  title["reduce"] = "reduce"; title["bitonic"] = "bitonic"
}
