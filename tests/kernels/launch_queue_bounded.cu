// A stream takes a bounded number of launches, copies and fills while its first kernel runs. Then
// the call waits for space. Host functions do not wait. All work completes in the end.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/kernels/kernel_test.cuh"

__global__ void wait_for(volatile int* go_on) {
  while (!*go_on) __nanosleep(1000);
}
__global__ void count(int* launches) { ++*launches; }

void CUDART_CB add(void* calls) { ++*static_cast<int*>(calls); }

// Counts how many of 3000 calls return while the stream's first kernel runs.
template <class Call>
void bounded(const char* what, Call call) {
  constexpr int many = 3000;
  int* go_on = nullptr;
  CHECK(cudaMallocHost(&go_on, sizeof *go_on));
  *go_on = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  wait_for<<<1, 1, 0, stream>>>(go_on);
  std::atomic<int> made{0};
  std::thread host([&] {
    for (int i = 0; i < many; ++i, ++made) call(stream);
  });
  int before = -1;
  while (made != before && made != many) {
    before = made;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  const int while_full = made;
  *(volatile int*)go_on = 1;
  host.join();
  CHECK(cudaStreamSynchronize(stream));
  std::printf("%s: some return at once: %d, all of them: %d\n", what, while_full >= 500,
              while_full == many);
}

int main() {
  Buffer<int> launches(1), target(64);
  int* source = nullptr;
  CHECK(cudaMallocHost(&source, 256));
  int calls = 0;
  CHECK(cudaMemcpy(target, source, 256, cudaMemcpyHostToDevice));
  count<<<1, 1>>>(launches);
  CHECK(cudaDeviceSynchronize());
  bounded("launches", [&](cudaStream_t s) { count<<<1, 1, 0, s>>>(launches); });
  bounded("copies", [&](cudaStream_t s) {
    CHECK(cudaMemcpyAsync(target, source, 256, cudaMemcpyHostToDevice, s));
  });
  bounded("fills", [&](cudaStream_t s) { CHECK(cudaMemsetAsync(target, 0, 256, s)); });
  bounded("host functions", [&](cudaStream_t s) { CHECK(cudaLaunchHostFunc(s, add, &calls)); });
  std::printf("launches done: %d, host functions: %d\n", launches.read()[0], calls);
}
