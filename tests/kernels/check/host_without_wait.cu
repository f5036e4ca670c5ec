// The host accesses managed, pinned and registered memory that a kernel or a copy in a stream may
// still be using, and in the twins after a wait.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "tests/kernels/check/check_test.cuh"

__global__ void writes(int* data) { data[threadIdx.x] = threadIdx.x; }  // [writes]
__global__ void reads(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x];  // [reads]
}
__global__ void adds(int* sum) { atomicAdd(sum, 1); }  // [adds]

constexpr int count = 64;
constexpr std::size_t bytes = count * sizeof(int);
volatile int sink;

struct Managed {
  int* data;
  Managed() {
    CHECK(cudaMallocManaged(&data, bytes));
    for (int i = 0; i < count; ++i) data[i] = -1;
  }
  operator int*() const { return data; }
};
struct Pinned {
  int* data;
  Pinned() {
    CHECK(cudaMallocHost(&data, bytes));
    for (int i = 0; i < count; ++i) data[i] = -1;
  }
  operator int*() const { return data; }
};

template <bool right>
void wait() {
  if (right) CHECK(cudaDeviceSynchronize());
}

template <bool right>
void managed_read() {
  Managed data;
  writes<<<1, count>>>(data);
  wait<right>();
  sink = data[5];
}

template <bool right>
void managed_write() {
  Managed data, out;
  reads<<<1, count>>>(data, out);
  wait<right>();
  data[7] = 3;
}

// The sum happens to be the value that the kernel stores.
template <bool right>
void managed_increased() {
  Managed data;
  writes<<<1, count>>>(data);
  wait<right>();
  volatile int& value = data[5];
  value = value + 6;
}

// A device atomic is not atomic for the host.
template <bool right>
void managed_sum() {
  Managed data;
  adds<<<1, count>>>(data);
  wait<right>();
  sink = data[0];
}

// The kernel has long ended, but only by luck.
template <bool right>
void after_the_end() {
  Managed data;
  writes<<<1, count>>>(data);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  wait<right>();
  sink = data[5];
}

// The program ends while the kernel waits for its turn, which takes longer than a kernel mostly has
// then.
template <bool right>
void end_of_program() {
  Managed data;
  CHECK(cudaLaunchHostFunc(
      nullptr, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(400)); },
      nullptr));
  writes<<<1, count>>>(data);
  wait<right>();
  sink = data[5];
  std::exit(0);
}

template <bool right>
void pinned_read() {
  Buffer<int> device(count);
  Pinned host;
  CHECK(cudaMemset(device, 1, bytes));
  CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost));
  wait<right>();
  sink = host[5];
}

template <bool right>
void pinned_source() {
  Buffer<int> device(count);
  Pinned host;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < count; ++i) host[i] = round;
    CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice));
    wait<right>();
  }
}

template <bool right>
void pinned_destination() {
  Buffer<int> device(count);
  Pinned host;
  CHECK(cudaMemset(device, 1, bytes));
  CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost));
  wait<right>();
  host[9] = 0;
}

template <bool right>
void mapped() {
  int *host, *device;
  CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&device, host, 0));
  writes<<<1, count>>>(device);
  wait<right>();
  sink = host[5];
}

template <bool right>
void registered() {
  constexpr std::size_t pages = 1 << 14;
  int* host = static_cast<int*>(std::aligned_alloc(4096, pages));
  CHECK(cudaHostRegister(host, pages, cudaHostRegisterDefault));
  writes<<<1, count>>>(host);
  wait<right>();
  sink = host[5];
  CHECK(cudaHostUnregister(host));
  std::free(host);
}

// It also reads the kernel's input, before it reads the kernel's output.
template <bool right>
void second_look() {
  Managed data, all;
  reads<<<1, count / 2>>>(all, all + count / 2);
  wait<right>();
  sink = all[0] + all[1] + all[count - 1];
}

template <bool right>
void library_call() {
  Buffer<int> device(count);
  Pinned host;
  int copy[count];
  CHECK(cudaMemset(device, 1, bytes));
  CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost));
  wait<right>();
  std::memcpy(copy, host, bytes);
  sink = copy[5];
}

template <bool right>
void file_write() {
  Managed data;
  std::FILE* file = std::tmpfile();
  writes<<<1, count>>>(data);
  wait<right>();
  if (std::fwrite(data, sizeof(int), count, file) != count) std::abort();
  std::fclose(file);
}

template <bool right>
void file_read() {
  Buffer<int> device(count);
  Pinned host;
  std::FILE* file = std::tmpfile();
  int zeros[count] = {};
  if (write(fileno(file), zeros, bytes) != bytes) std::abort();
  CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice));
  wait<right>();
  if (pread(fileno(file), host, bytes, 0) != bytes) std::abort();
  std::fclose(file);
}

template <bool right>
void other_stream() {
  cudaStream_t a, b;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreate(&b));
  Managed data;
  writes<<<1, count, 0, a>>>(data);
  CHECK(cudaStreamSynchronize(right ? a : b));
  sink = data[5];
}

template <bool right>
void event() {
  cudaEvent_t before, behind;
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&behind));
  Managed data;
  CHECK(cudaEventRecord(before));
  writes<<<1, count>>>(data);
  CHECK(cudaEventRecord(behind));
  CHECK(cudaEventSynchronize(right ? behind : before));
  sink = data[5];
}

template <bool right>
void graph() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  Managed data;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  writes<<<1, count, 0, stream>>>(data);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  if (right) CHECK(cudaStreamSynchronize(stream));
  sink = data[5];
}

template <bool right>
void other_thread() {
  Managed data;
  writes<<<1, count>>>(data);
  wait<right>();
  std::thread([&] { sink = data[5]; }).join();
}

// A copy between two places of device memory does not make the host wait.
template <bool right>
void device_copy() {
  Managed data;
  int *from, *to;
  CHECK(cudaMalloc(&from, bytes));
  CHECK(cudaMalloc(&to, bytes));
  CHECK(cudaMemset(from, 0, bytes));
  writes<<<1, count>>>(data);
  CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));
  wait<right>();
  sink = data[5];
}

#define BOTH(name) \
  {#name, name<false>}, { #name "_twin", name < true> }

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {BOTH(managed_read),  BOTH(managed_write), BOTH(managed_sum),   BOTH(managed_increased),
       BOTH(after_the_end), BOTH(pinned_read),   BOTH(pinned_source), BOTH(pinned_destination),
       BOTH(mapped),        BOTH(registered),    BOTH(second_look),   BOTH(library_call),
       BOTH(file_write),    BOTH(file_read),     BOTH(other_stream),  BOTH(event),
       BOTH(graph),         BOTH(other_thread),  BOTH(device_copy),   BOTH(end_of_program)});
}
