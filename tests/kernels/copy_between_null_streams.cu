// options: --devices 2
// Which work a copy between two devices waits for, and which work waits for it, by the streams of
// both. The expected output is two H100s'.
#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t e = (call);                                                    \
    if (e != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorName(e)); \
  } while (0)

// Waits until the host says so.
__global__ void write(int* place, int value, volatile int* flag) {
  while (*flag == 0) {
  }
  *place = value;
}

constexpr int streams = 4;
const char* const names[streams] = {"null", "blocking", "nonblocking", "per-thread"};

int *there[2], *flag;  // an int of each device; what kernels wait for
cudaStream_t stream[2][streams];

void on(int device) { CHECK(cudaSetDevice(device)); }
void set(int device, int value) {
  on(device);
  CHECK(cudaMemcpy(there[device], &value, sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize());
}
void let_go() { *static_cast<volatile int*>(flag) = 1; }
void all_done() {
  for (int device : {0, 1}) {
    on(device);
    CHECK(cudaDeviceSynchronize());
  }
}
int value_of(int device) {
  int value = 0;
  CHECK(cudaMemcpy(&value, there[device], sizeof(int), cudaMemcpyDeviceToHost));
  return value;
}

// A copy from 0 to 1, in a stream of 1, while a kernel of 0 is to write its source.
void pull(int kernel, int copy, bool peers) {
  set(0, 0), set(1, 9);
  *flag = 0;
  on(0);
  write<<<1, 1, 0, stream[0][kernel]>>>(there[0], 1, flag);
  on(1);
  if (peers) CHECK(cudaMemcpyPeerAsync(there[1], 1, there[0], 0, sizeof(int), stream[1][copy]));
  else CHECK(cudaMemcpyAsync(there[1], there[0], sizeof(int), cudaMemcpyDefault, stream[1][copy]));
  const bool independent = copy != 0 || kernel == 2;
  if (independent) CHECK(cudaStreamSynchronize(stream[1][copy]));
  let_go();
  all_done();
  std::printf("kernel of 0 in %s, copy by 1 in %s: %s\n", names[kernel], names[copy],
              value_of(1) ? "after it" : "at once");
}
// A copy from 0 to 1, in a stream of 0, while a kernel of 1 is to write its destination.
void push(int kernel, int copy) {
  set(0, 1), set(1, 9);
  *flag = 0;
  on(1);
  write<<<1, 1, 0, stream[1][kernel]>>>(there[1], 7, flag);
  on(0);
  CHECK(cudaMemcpyAsync(there[1], there[0], sizeof(int), cudaMemcpyDefault, stream[0][copy]));
  const bool independent = copy != 0 || kernel == 2;
  if (independent) CHECK(cudaStreamSynchronize(stream[0][copy]));
  let_go();
  all_done();
  std::printf("kernel of 1 in %s, copy by 0 in %s: %s\n", names[kernel], names[copy],
              value_of(1) == 1 ? "after it" : "at once");
}
// A kernel of 0 that writes the source of a copy of 1 which still waits.
void behind(int kernel, int copy) {
  set(0, 1), set(1, 9);
  *flag = 0;
  on(1);
  write<<<1, 1, 0, stream[1][copy]>>>(there[1], 7, flag);
  CHECK(cudaMemcpyAsync(there[1], there[0], sizeof(int), cudaMemcpyDefault, stream[1][copy]));
  on(0);
  int* always;
  CHECK(cudaHostAlloc(&always, sizeof(int), 0));
  *always = 1;
  write<<<1, 1, 0, stream[0][kernel]>>>(there[0], 5, always);
  const bool independent = copy != 0 || kernel == 2;
  if (independent) CHECK(cudaStreamSynchronize(stream[0][kernel]));
  let_go();
  all_done();
  std::printf("copy by 1 in %s, kernel of 0 in %s: %s\n", names[copy], names[kernel],
              value_of(1) == 1 ? "after it" : "at once");
}

int main() {
  CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocPortable));
  *flag = 1;
  for (int device : {0, 1}) {
    on(device);
    CHECK(cudaMalloc(&there[device], sizeof(int)));
    CHECK(cudaStreamCreate(&stream[device][1]));
    CHECK(cudaStreamCreateWithFlags(&stream[device][2], cudaStreamNonBlocking));
    stream[device][3] = cudaStreamPerThread;
    write<<<1, 1>>>(there[device], 0, flag);  // loads it
    CHECK(cudaDeviceSynchronize());
  }
  for (const bool peers : {false, true})
    for (int kernel = 0; kernel < streams; ++kernel)
      for (int copy = 0; copy < streams; ++copy) pull(kernel, copy, peers);
  for (int kernel = 0; kernel < streams; ++kernel)
    for (int copy = 0; copy < streams; ++copy) push(kernel, copy);
  for (int kernel = 0; kernel < streams; ++kernel)
    for (int copy = 0; copy < streams; ++copy) behind(kernel, copy);
}
