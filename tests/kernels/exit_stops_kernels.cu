// stderr: kernel spin\(.*\) was still running when the program ended
// stderr: at .*exit_stops_kernels.cu:[0-9]+
// A program that exits while a kernel spins ends at once: return from main, exit() on another
// thread, exit() in its own interrupt handler, with more kernels queued after the spinning one.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

__global__ void spin(volatile int* never) {
  while (*never == 0) {
  }
}

int end_with_kernel(const char* how) {
  int* never = nullptr;
  if (cudaMalloc(&never, sizeof *never) != cudaSuccess) return 1;
  cudaMemset(never, 0, sizeof *never);
  spin<<<2, 64>>>(never);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (std::strcmp(how, "queue") == 0)
    for (int i = 0; i < 200; ++i) spin<<<2, 64>>>(never);
  if (std::strcmp(how, "thread") == 0) {
    std::thread([] { std::exit(3); }).detach();
    for (;;) pause();
  }
  if (std::strcmp(how, "handler") == 0) {
    std::signal(SIGINT, [](int) { std::exit(3); });
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      kill(getpid(), SIGINT);
    }).detach();
    for (;;) pause();
  }
  return 3;
}

int main(int count, char** arguments) {
  if (count > 1) return end_with_kernel(arguments[1]);
  for (const char* how : {"main", "thread", "handler", "queue"}) {
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
      execl(arguments[0], arguments[0], how, nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%s: status %d, %s\n", how, WEXITSTATUS(status), took.count() < 4 ? "at once" : "late");
  }
}
