// Prints every device attribute and cudaDeviceProp field of device 0, one `NAME VALUE` per line.
// The output of a real chip is the reference for the profile of that name.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>

static void print_attributes() {
  for (int number = 1; number < 160; ++number) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, cudaDeviceAttr(number), 0) != cudaSuccess) continue;
    std::printf("attribute %d %d\n", number, value);
  }
  cudaGetLastError();
}

// The fields after name, uuid and luid are int or size_t, so printing every 4-byte word shows all.
static void print_properties() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return;
  std::printf("name %s\n", properties.name);
  auto* words = reinterpret_cast<const unsigned*>(&properties);
  size_t first = offsetof(cudaDeviceProp, totalGlobalMem), end = offsetof(cudaDeviceProp, reserved);
  for (size_t at = first; at < end; at += sizeof(unsigned)) {
    std::printf("word %zu %u\n", at, words[at / sizeof(unsigned)]);
  }
}

static void print_limits() {
  for (int limit = 0; limit < 7; ++limit) {
    size_t value = 0;
    if (cudaDeviceGetLimit(&value, cudaLimit(limit)) != cudaSuccess) continue;
    std::printf("limit %d %zu\n", limit, value);
  }
  int low = 0, high = 0;
  cudaDeviceGetStreamPriorityRange(&low, &high);
  std::printf("priorities %d %d\n", low, high);
}

int main() {
  print_attributes();
  print_properties();
  print_limits();
  return 0;
}
