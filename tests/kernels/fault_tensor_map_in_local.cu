// arch: sm_90a
// stderr: is in local memory.*__grid_constant__
// A tensor map passed to a function by value is a copy in local memory, which the tensor copy unit
// cannot read.
#include "tests/kernels/kernel_test.cuh"
#include "tests/kernels/part/tensor.cuh"

struct Row {
  char bytes[64];
};

__device__ __noinline__ void fetch(CUtensorMap map, uint32_t to, uint32_t bar) {
  load_row(to, &map, bar);
}

__global__ void by_value(const __grid_constant__ CUtensorMap map, Row* out) {
  __shared__ alignas(128) Row row;
  __shared__ alignas(8) uint64_t bar;
  init(shared_address(&bar), 1);
  expect(shared_address(&bar), sizeof row);
  fetch(map, shared_address(&row), shared_address(&bar));
  wait(shared_address(&bar), 0);
  *out = row;
}

int main() {
  Buffer<Row> data(1), out(1);
  by_value<<<1, 1>>>(encode_bytes(data, sizeof(Row), 1), out);
  SAY(cudaDeviceSynchronize());
}
