// Host code that uses device memory: host_access CASE.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

__device__ int variable = 7;

__global__ void number(int* out) { out[threadIdx.x] = threadIdx.x; }

namespace {

int* numbered() {
  int* p = nullptr;
  cudaMalloc(&p, 128);
  number<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  return p;
}

int sum(const int* p) {
  int all = 0;
  for (int i = 0; i < 32; ++i) all += p[i];
  return all;
}

sigjmp_buf back;

// Runs a program's own use of SIGSEGV: it knows how to go on.
int handled() {
  struct sigaction action {};
  action.sa_handler = [](int) { siglongjmp(back, 1); };
  sigaction(SIGSEGV, &action, nullptr);
  const int* const p = numbered();
  if (sigsetjmp(back, 1) == 0) return sum(p), 1;
  std::puts("the program's handler");
  int copy[32];
  return cudaMemcpy(copy, p, sizeof copy, cudaMemcpyDeviceToHost) != cudaSuccess ||
         sum(copy) != 496;
}

// A null pointer is no business of the library's.
int null() {
  numbered();
  return *static_cast<volatile int*>(nullptr);
}

int forked() {
  const int* const p = numbered();
  if (fork() == 0) _exit(sum(p));
  int status = 0;
  wait(&status);
  std::printf("the child: %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  int copy[32];
  return cudaMemcpy(copy, p, sizeof copy, cudaMemcpyDeviceToHost) != cudaSuccess ||
         sum(copy) != 496;
}

// The system refuses to read closed memory, for a pipe as for any file.
int passed() {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const bool refused = write(ends[1], numbered(), 4) < 0 && errno == EFAULT;
  std::puts(refused ? "refused" : "written");
  return 0;
}

// No access goes past the library's own work.
int loop() {
  int *p = numbered(), copy[32];
  for (int i = 0; i < 3000; ++i) {
    number<<<1, 32>>>(p);
    cudaMemset(p, 0, 4);
    cudaMemcpy(copy, p, sizeof copy, cudaMemcpyDeviceToHost);
    if (sum(copy) != 496) return 1;
  }
  return 0;
}

}  // namespace

int main(int, char** argv) {
  const std::string name = argv[1];
  if (name == "handled") return handled();
  if (name == "null") return null();
  if (name == "forked") return forked();
  if (name == "loop") return loop();
  if (name == "passed") return passed();
  if (name == "write") {
    int* p = nullptr;
    cudaMalloc(&p, 128);
    p[3] = 1;
    return 0;
  }
  if (name == "symbol") {
    void* p = nullptr;
    cudaGetSymbolAddress(&p, variable);
    std::printf("variable %d\n", *static_cast<int*>(p));
    return 0;
  }
  std::printf("sum %d\n", sum(numbered()));
  return 0;
}
