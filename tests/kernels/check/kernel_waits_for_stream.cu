// alone: which of two accesses a finding names first depends on what else is in the file
// A kernel waits for a flag that a kernel of another stream sets. What follows it in its stream
// comes after what it has acquired.
#include <cuda/atomic>

#include "tests/kernels/check/check_test.cuh"

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void writes(int* data, int* flag) {
  *data = 7;  // [writes]
  Flag(*flag).store(1, cuda::memory_order_release);
}
__global__ void reads(const int* data, int* out) { *out = *data; }  // [reads]

// The last block waits. A load without acquire semantics orders nothing.
template <bool acquires>
__global__ void waits(int* flag) {
  if (blockIdx.x != gridDim.x - 1) return;
  const auto order = acquires ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
  while (Flag(*flag).load(order) == 0) continue;
}

// Lets the next kernel of its stream begin, then waits.
template <bool acquires>
__global__ void lets_begin_and_waits(int* flag) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const auto order = acquires ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
  while (Flag(*flag).load(order) == 0) continue;
}
__global__ void passes_on() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
template <bool waits>
__global__ void reads_early(const int* data, int* out) {
  if (waits) asm volatile("griddepcontrol.wait;" ::: "memory");
  *out = *data;  // [reads early]
}

struct Streams {
  cudaStream_t a, b, c;
  Buffer<int> data{1}, flag{1}, out{1};
  explicit Streams(bool set = true) {
    for (cudaStream_t* each : {&a, &b, &c})
      CHECK(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking));
    CHECK(cudaMemset(flag, 0, sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    if (set) set_flag();
    load();
  }
  // A kernel that is loaded at its first launch may have to wait for those that run.
  void load() {
    cudaFuncAttributes attributes;
    for (const void* each : {(const void*)writes, (const void*)passes_on,
                             (const void*)reads_early<false>, (const void*)reads_early<true>})
      CHECK(cudaFuncGetAttributes(&attributes, each));
  }
  void set_flag() { writes<<<1, 1, 0, a>>>(data, flag); }
};

template <bool acquires>
void next_kernel() {
  Streams s;
  waits<acquires><<<2, 1, 0, s.b>>>(s.flag);
  reads<<<1, 1, 0, s.b>>>(s.data, s.out);
  CHECK(cudaDeviceSynchronize());
}

void next_copy_twin() {
  Streams s;
  waits<true><<<2, 1, 0, s.b>>>(s.flag);
  CHECK(cudaMemcpyAsync(s.out, s.data, sizeof(int), cudaMemcpyDeviceToDevice, s.b));
  CHECK(cudaDeviceSynchronize());
}

void next_node_twin() {
  Streams s;
  CHECK(cudaStreamBeginCapture(s.b, cudaStreamCaptureModeRelaxed));
  waits<true><<<2, 1, 0, s.b>>>(s.flag);
  reads<<<1, 1, 0, s.b>>>(s.data, s.out);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(s.b, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, s.b));
  CHECK(cudaDeviceSynchronize());
}

// A third stream comes after the wait, or not.
template <bool right>
void third_stream() {
  Streams s;
  waits<true><<<2, 1, 0, s.b>>>(s.flag);
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  CHECK(cudaEventRecord(done, s.b));
  if (right) CHECK(cudaStreamWaitEvent(s.c, done));
  reads<<<1, 1, 0, s.c>>>(s.data, s.out);
  CHECK(cudaDeviceSynchronize());
}

// The kernels of stream b begin before the flag is set.
template <class... Arguments>
void launch_early(cudaStream_t stream, void kernel(Arguments...), Arguments... arguments) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1, config.blockDim = 1, config.stream = stream;
  config.attrs = &early, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

template <bool acquires, bool waits, int between = 0>
void dependent() {
  Streams s(false);
  lets_begin_and_waits<acquires><<<1, 1, 0, s.b>>>(s.flag);
  for (int i = 0; i < between; ++i) launch_early(s.b, passes_on);
  launch_early<const int*, int*>(s.b, reads_early<waits>, s.data, s.out);
  s.set_flag();
  CHECK(cudaDeviceSynchronize());
}

void dependent_node_twin() {
  Streams s(false);
  CHECK(cudaStreamBeginCapture(s.b, cudaStreamCaptureModeRelaxed));
  lets_begin_and_waits<true><<<1, 1, 0, s.b>>>(s.flag);
  launch_early(s.b, passes_on);
  launch_early<const int*, int*>(s.b, reads_early<true>, s.data, s.out);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(s.b, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, s.b));
  s.set_flag();
  CHECK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"next_kernel", next_kernel<false>},
                   {"next_kernel_twin", next_kernel<true>},
                   {"next_copy_twin", next_copy_twin},
                   {"next_node_twin", next_node_twin},
                   {"third_stream", third_stream<false>},
                   {"third_stream_twin", third_stream<true>},
                   {"dependent", dependent<false, true>},
                   {"dependent_early", dependent<true, false>},
                   {"dependent_twin", dependent<true, true>},
                   {"chain", dependent<true, false, 1>},
                   {"chain_twin", dependent<true, true, 1>},
                   {"dependent_node_twin", dependent_node_twin}});
}
