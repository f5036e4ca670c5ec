// A kernel's output appears while the host waits for the kernel, which runs on until the host has
// read the output.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/kernels/kernel_test.cuh"

__global__ void talk(volatile int* go_on) {
  printf("before the wait\n");
  while (!*go_on) __nanosleep(1000);
  printf("after the wait\n");
}

int main() {
  int* go_on = nullptr;
  CHECK(cudaMallocHost(&go_on, sizeof *go_on));
  *go_on = 0;
  int ends[2];
  if (pipe(ends) != 0) return 1;
  std::fflush(stdout);
  const int terminal = dup(1);
  dup2(ends[1], 1);

  std::string seen;
  std::atomic<bool> shown{false};
  std::thread reader([&] {
    char text[256];
    for (ssize_t size; (size = read(ends[0], text, sizeof text)) > 0;) {
      seen.append(text, std::size_t(size));
      if (seen.find("before the wait\n") != seen.npos) shown = true;
      if (shown) *(volatile int*)go_on = 1;
    }
  });
  std::atomic<bool> late{false};
  std::thread patience([&] {
    for (int i = 0; i < 100 && !shown; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    late = !shown;
    *(volatile int*)go_on = 1;
  });
  talk<<<1, 1>>>(go_on);
  const cudaError_t error = cudaDeviceSynchronize();
  std::fflush(stdout);
  dup2(terminal, 1);
  close(ends[1]);
  patience.join();
  reader.join();
  std::printf("%s", seen.c_str());
  std::printf("%s; shown %s\n", cudaGetErrorName(error),
              late ? "when the kernel had ended" : "while the kernel ran");
}
