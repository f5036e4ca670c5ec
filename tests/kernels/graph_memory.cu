// Memory of graphs: addresses that allocations share, the memory that a device reserves for graphs,
// and what a trim frees (from cuda-samples' graphMemoryFootprint).
#include <cstdlib>
#include <vector>

#include "tests/kernels/kernel_test.cuh"

constexpr std::size_t large = 64 << 20;

__global__ void wait_for(volatile int* gate) {
  while (*gate == 0) {
  }
}

void tell(const char* when) {
  unsigned long long values[4];
  const cudaGraphMemAttributeType which[] = {
      cudaGraphMemAttrUsedMemCurrent, cudaGraphMemAttrUsedMemHigh,
      cudaGraphMemAttrReservedMemCurrent, cudaGraphMemAttrReservedMemHigh};
  for (int i = 0; i < 4; ++i) CHECK(cudaDeviceGetGraphMemAttribute(0, which[i], &values[i]));
  std::printf("%s: used %llu of at most %llu, reserved %llu of at most %llu\n", when, values[0],
              values[1], values[2], values[3]);
}

struct Chain {
  cudaGraph_t graph;
  std::vector<cudaGraphNode_t> last;
  Chain() { CHECK(cudaGraphCreate(&graph, 0)); }
  char* allocate(std::size_t bytes, bool alone = false) {
    cudaMemAllocNodeParams p{};
    p.bytesize = bytes;
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location = {cudaMemLocationTypeDevice, 0};
    cudaGraphNode_t node;
    const std::size_t after = alone ? 0 : last.size();
    CHECK(cudaGraphAddMemAllocNode(&node, graph, last.data(), after, &p));
    last = {node};
    return static_cast<char*>(p.dptr);
  }
  void release(void* memory) {
    cudaGraphNode_t node;
    CHECK(cudaGraphAddMemFreeNode(&node, graph, last.data(), last.size(), memory));
    last = {node};
  }
  void spin(int* gate) {
    cudaGraphNode_t node;
    void* arguments[] = {&gate};
    cudaKernelNodeParams p{};
    p.func = reinterpret_cast<void*>(wait_for);
    p.gridDim = p.blockDim = dim3(1);
    p.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, last.data(), last.size(), &p));
    last = {node};
  }
  cudaGraphExec_t instantiate(unsigned long long flags = 0) {
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, flags));
    return exec;
  }
};

void clean(const char* when) {
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceGraphMemTrim(0));
  unsigned long long none = 0;
  CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &none));
  CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &none));
  tell(when);
}

int main() {
  cudaStream_t stream, other;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  {
    Chain one;
    char* a = one.allocate(large);
    one.release(a);
    char* b = one.allocate(large);
    one.release(b);
    char* c = one.allocate(large, true);
    std::printf("freed before: %d, not freed before: %d\n", a == b, a == c || b == c);
    one.release(c);
    cudaGraphExec_t exec = one.instantiate();
    tell("instantiated");
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    tell("launched");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(one.graph));
    tell("destroyed");
    clean("trimmed");
  }
  {
    // Graphs of one stream share memory, not addresses.
    Chain chains[3];
    char* at[3];
    cudaGraphExec_t execs[3];
    for (int i = 0; i < 3; ++i) {
      chains[i].release(at[i] = chains[i].allocate(large));
      execs[i] = chains[i].instantiate();
    }
    std::printf("addresses differ: %d\n", at[0] != at[1] && at[1] != at[2] && at[0] != at[2]);
    for (cudaGraphExec_t exec : execs) {
      CHECK(cudaGraphLaunch(exec, stream));
      CHECK(cudaGraphLaunch(exec, stream));
      tell("one stream");
    }
    clean("trimmed");
    for (cudaGraphExec_t exec : execs) CHECK(cudaGraphExecDestroy(exec));
  }
  {
    // Graphs that run at the same time cannot share memory.
    int* gate;
    CHECK(cudaMallocManaged(&gate, sizeof *gate));
    *gate = 0;
    Chain chains[2];
    cudaGraphExec_t execs[2];
    for (int i = 0; i < 2; ++i) {
      char* memory = chains[i].allocate(large);
      chains[i].spin(gate);
      chains[i].release(memory);
      execs[i] = chains[i].instantiate();
    }
    CHECK(cudaGraphLaunch(execs[0], stream));
    CHECK(cudaGraphLaunch(execs[1], other));
    tell("two streams");
    *reinterpret_cast<volatile int*>(gate) = 1;
    clean("trimmed");
    for (cudaGraphExec_t exec : execs) CHECK(cudaGraphExecDestroy(exec));
  }
  {
    // Memory that a graph does not free stays reserved until another free.
    Chain chains[2];
    char* at[2];
    cudaGraphExec_t execs[2];
    for (int i = 0; i < 2; ++i) {
      at[i] = chains[i].allocate(large);
      execs[i] = chains[i].instantiate();
      CHECK(cudaGraphLaunch(execs[i], stream));
      tell("left behind");
    }
    SAY(cudaGraphLaunch(execs[0], stream));
    cudaGetLastError();
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDeviceGraphMemTrim(0));
    tell("trimmed in vain");
    CHECK(cudaMemsetAsync(at[0], 3, large, stream));
    CHECK(cudaFreeAsync(at[0], stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(at[1]));
    tell("freed");
    SAY(cudaFree(at[1]));
    cudaGetLastError();
    clean("trimmed");
    SAY(cudaGraphLaunch(execs[0], stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(execs[0]));
    CHECK(cudaGraphDestroy(chains[0].graph));
    char last = 0;
    CHECK(cudaMemset(at[0], 4, large));
    CHECK(cudaMemcpy(&last, at[0] + large - 1, 1, cudaMemcpyDeviceToHost));
    std::printf("after its graph: %d\n", last);
    CHECK(cudaFree(at[0]));
    CHECK(cudaGraphExecDestroy(execs[1]));
    clean("trimmed");
  }
  {
    Chain chain;
    chain.allocate(large);
    cudaGraphExec_t exec = chain.instantiate(cudaGraphInstantiateFlagAutoFreeOnLaunch);
    SAY(cudaGraphLaunch(exec, stream));
    SAY(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    tell("freed by the next launch");
    CHECK(cudaGraphExecDestroy(exec));
  }
  SAY(cudaDeviceGraphMemTrim(9));
  cudaGetLastError();
}
