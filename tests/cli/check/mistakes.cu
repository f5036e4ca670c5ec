// Makes mistakes that any order shows, then ends as its arguments say: mistakes [WORD...]. The
// words act in turn: `arrive` and `expect` (a mistake each), `right` (a correct kernel), `mark` (a
// warning), `abort`, `kill`, `exit` (3), `_exit` (3), `wait` (for a signal), `echo` (copies its input), `seeded` (a
// mistake where the order of copies is shuffled by 2), `close` (descriptors, as daemons do, whose
// numbers then are those of the file "own.dat").
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "tests/kernels/check/check_test.cuh"

__global__ void arrives(int count) {
  __shared__ std::uint64_t bar;
  if (threadIdx.x == 0) bar = 0;
  __syncthreads();
  if (threadIdx.x < count)
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(&bar)) : "memory");
}

__global__ void expects(int count) {
  __shared__ std::uint64_t bar;
  if (threadIdx.x == 0) bar = 0;
  __syncthreads();
  if (threadIdx.x < count)
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(shared_address(&bar))
                 : "memory");
}

__global__ void marks(int* done) { *done = 1; }

void close_descriptors() {
  constexpr int most = 4096;
  for (int each = STDERR_FILENO + 1; each < most; ++each) close(each);
  const int own = open("own.dat", O_RDWR | O_CREAT, 0644);
  for (int each = own + 1; each < most; ++each) dup2(own, each);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* const order = std::getenv("INFLIGHT_ASYNC");
    if (word == "arrive") arrives<<<64, 32>>>(1);
    if (word == "seeded" && order && std::string(order) == "shuffled:2") arrives<<<32, 32>>>(1);
    if (word == "expect") expects<<<1, 32>>>(1);
    if (word == "right") arrives<<<1, 32>>>(0);
    if (word == "mark") {
      int* done = nullptr;
      cudaMalloc(&done, sizeof *done);
      marks<<<1, 64>>>(done);
    }
    if (word == "close") close_descriptors();
    if (word == "echo") {
      char text[100];
      std::printf("read: %s", std::fgets(text, sizeof text, stdin));
    }
    cudaDeviceSynchronize();
    std::printf("did %s\n", argv[i]);
    std::fflush(stdout);
    if (word == "abort") std::abort();
    if (word == "kill") std::raise(SIGKILL);
    if (word == "exit") std::exit(3);
    if (word == "_exit") _exit(3);
    if (word == "wait") pause();
  }
  return 0;
}
