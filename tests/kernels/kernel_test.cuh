// Shared by the programs of this folder: printed arrays and checksums, and checked calls.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// Ends the program with a message if a call that must work fails.
#define CHECK(call)                                                  \
  do {                                                               \
    cudaError_t check_error = (call);                                \
    if (check_error != cudaSuccess) {                                \
      std::printf("%s: %s\n", #call, cudaGetErrorName(check_error)); \
      std::exit(3);                                                  \
    }                                                                \
  } while (0)

// Prints the name of a call's error, for calls whose result is the test.
#define SAY(call) std::printf("%s: %s\n", #call, cudaGetErrorName(call))

// Device memory of `count` elements that the host reads after a copy.
template <class T>
struct Buffer {
  T* device = nullptr;
  std::vector<T> host;
  // Zeroes when it returns. A fill may still run, and other streams do not wait for it.
  explicit Buffer(std::size_t count) : host(count) {
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemset(device, 0, count * sizeof(T)));
    CHECK(cudaStreamSynchronize(0));
  }
  explicit Buffer(std::vector<T> values) : host(std::move(values)) {
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(device); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator T*() const { return device; }
  // Waits for the device and copies its bytes to the host.
  std::vector<T>& read() {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
};

// FNV-1a hash of the bytes.
inline std::uint64_t checksum(const void* data, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
  return hash;
}
template <class T>
std::uint64_t checksum(const std::vector<T>& values) {
  return checksum(values.data(), values.size() * sizeof(T));
}

inline void print_value(int v) { std::printf(" %d", v); }
inline void print_value(unsigned v) { std::printf(" %u", v); }
inline void print_value(long v) { std::printf(" %ld", v); }
inline void print_value(unsigned long v) { std::printf(" %lu", v); }
inline void print_value(long long v) { std::printf(" %lld", v); }
inline void print_value(unsigned long long v) { std::printf(" %llu", v); }
inline void print_value(float v) {
  unsigned bits;
  std::memcpy(&bits, &v, 4);
  std::printf(" %08x", bits);
}
inline void print_value(double v) {
  unsigned long long bits;
  std::memcpy(&bits, &v, 8);
  std::printf(" %016llx", bits);
}

// Prints "name: a b c ..." with `per_line` values per line.
template <class T>
void print(const char* name, const std::vector<T>& values, std::size_t per_line = 16) {
  std::printf("%s:", name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i && i % per_line == 0) std::printf("\n ");
    print_value(values[i]);
  }
  std::printf("\n");
}
template <class T>
void print_checksum(const char* name, const std::vector<T>& values) {
  std::printf("%s: %016llx over %zu\n", name, (unsigned long long)checksum(values), values.size());
}

// Pseudo-random numbers, the same on every machine.
struct Random {
  std::uint64_t state;
  explicit Random(std::uint64_t seed) : state(seed * 0x9e3779b97f4a7c15ull + 1) {}
  std::uint64_t next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 0x2545f4914f6cdd1dull;
  }
  std::uint32_t next32() { return std::uint32_t(next() >> 32); }
};
