// A process that may use one core of the host: blocks that wait for one another make progress,
// without a message.
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kernels/kernel_test.cuh"

// Each block waits until the next one has continued.
__global__ void chain(unsigned* turn) {
  volatile unsigned* seen = turn;
  const unsigned mine = gridDim.x - 1 - blockIdx.x;
  while (*seen != mine) {
  }
  *seen = mine + 1;
}

int main() {
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &allowed)) CPU_SET(i, &one);
  sched_setaffinity(0, sizeof one, &one);
  std::FILE* said = std::tmpfile();
  dup2(fileno(said), STDERR_FILENO);

  Buffer<unsigned> turn(1);
  chain<<<16, 32>>>(turn);
  print("blocks that went on", turn.read());
  struct stat about {};
  fstat(fileno(said), &about);
  std::printf("said: %d bytes\n", int(about.st_size));
}
