// A kernel that may start before the previous one has ended reads the data that it writes: after
// griddepcontrol.wait, and without.
#include "tests/kernels/check/check_test.cuh"

__global__ void writes(int* data) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  data[threadIdx.x] = threadIdx.x;  // [writes]
}
__global__ void writes_first(int* data) {
  data[threadIdx.x] = threadIdx.x;  // [writes_first]
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__global__ void lets_nobody_begin(int* data) { data[threadIdx.x] = threadIdx.x; }

__global__ void reads(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x ^ 1];  // [reads]
}
// One thread waits for all.
__global__ void waits_and_reads(const int* data, int* out) {
  if (threadIdx.x == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x ^ 1];
}
// Waits only after it has read.
__global__ void reads_and_waits(const int* data, int* out) {
  const int value = data[threadIdx.x ^ 1];  // [too_early]
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[threadIdx.x] = value;
}
// Lets the next kernel start before it waits itself, so that the next one may overlap with the
// kernel before both.
__global__ void passes_on(int* other) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  other[threadIdx.x] = 0;
}

// Lets the next kernel start after its own wait, when the kernel before both is complete.
__global__ void passes_on_in_turn(int* other) {
  if (threadIdx.x == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
  __syncthreads();
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  other[threadIdx.x] = 0;  // [behind_the_other]
}
// The same, but only in some of its threads.
__global__ void passes_on_too_early(int* other) {
  if (threadIdx.x < 32) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  other[threadIdx.x] = 0;
}
// Neither waits nor lets the next kernel begin, which may then overlap with the kernel before both.
__global__ void stands_by(int* other) { other[threadIdx.x] = 0; }  // [stands_by]
// Lets nobody begin, but ends only after the kernel before it.
__global__ void waits_alone(int* other) {
  if (threadIdx.x == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
  other[threadIdx.x] = 0;
}
__global__ void reads_other(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x ^ 1];  // [reads_other]
}

struct Launch {
  cudaLaunchAttribute early = {};
  cudaLaunchConfig_t config = {};
  explicit Launch(cudaStream_t stream) {
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = 1, config.blockDim = 64, config.stream = stream;
    config.attrs = &early, config.numAttrs = 1;
  }
};

template <class Body>
void in_a_stream(Body body) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  body(stream);
  CHECK(cudaStreamSynchronize(stream));
}

template <void writer(int*), void reader(const int*, int*)>
void pair() {
  Buffer<int> data(64), out(64);
  in_a_stream([&](cudaStream_t stream) {
    const Launch launch(stream);
    CHECK(cudaLaunchKernelEx(&launch.config, writer, (int*)data));
    CHECK(cudaLaunchKernelEx(&launch.config, reader, (const int*)data, (int*)out));
  });
}

template <void between(int*), void reader(const int*, int*), bool reads_data = true,
          void first(int*) = writes, int times = 1>
void over_two() {
  Buffer<int> data(64), other(64), out(64);
  in_a_stream([&](cudaStream_t stream) {
    const Launch launch(stream);
    CHECK(cudaLaunchKernelEx(&launch.config, first, (int*)data));
    for (int i = 0; i < times; ++i) CHECK(cudaLaunchKernelEx(&launch.config, between, (int*)other));
    CHECK(cudaLaunchKernelEx(&launch.config, reader, (const int*)(reads_data ? data : other),
                             (int*)out));
  });
}
// The third launch does not permit an early begin, or an event lies in front of it.
template <bool event>
void then_in_order() {
  Buffer<int> data(64), other(64), out(64);
  in_a_stream([&](cudaStream_t stream) {
    const Launch launch(stream);
    cudaEvent_t between;
    CHECK(cudaEventCreate(&between));
    CHECK(cudaLaunchKernelEx(&launch.config, writes, (int*)data));
    CHECK(cudaLaunchKernelEx(&launch.config, stands_by, (int*)other));
    if (event) CHECK(cudaEventRecord(between, stream));
    if (event) CHECK(cudaLaunchKernelEx(&launch.config, reads, (const int*)data, (int*)out));
    else reads<<<1, 64, 0, stream>>>(data, out);
  });
}
// The launches of `launches` as a graph.
template <class Launches>
void as_graph(cudaStream_t stream, Launches launches) {
  cudaGraph_t made;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launches();
  CHECK(cudaStreamEndCapture(stream, &made));
  CHECK(cudaGraphInstantiate(&exec, made, 0));
  CHECK(cudaGraphLaunch(exec, stream));
}

template <void between(int*)>
void graph_over_two() {
  Buffer<int> data(64), other(64), out(64);
  in_a_stream([&](cudaStream_t stream) {
    const Launch launch(stream);
    as_graph(stream, [&] {
      CHECK(cudaLaunchKernelEx(&launch.config, writes, (int*)data));
      CHECK(cudaLaunchKernelEx(&launch.config, between, (int*)other));
      CHECK(cudaLaunchKernelEx(&launch.config, reads, (const int*)data, (int*)out));
    });
  });
}

// The graph's edge allows it, not the launch.
template <void reader(const int*, int*)>
void graph() {
  Buffer<int> data(64), out(64);
  in_a_stream([&](cudaStream_t stream) {
    const Launch launch(stream);
    as_graph(stream, [&] {
      CHECK(cudaLaunchKernelEx(&launch.config, writes, (int*)data));
      CHECK(cudaLaunchKernelEx(&launch.config, reader, (const int*)data, (int*)out));
      reads<<<1, 64, 0, stream>>>(data, out);
    });
  });
}

// Without the attribute, a stream's kernels run in order.
void in_order() {
  Buffer<int> data(64), out(64);
  writes<<<1, 64>>>(data);
  reads<<<1, 64>>>(data, out);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", pair<writes, reads>},
                   {"written_before", pair<writes_first, reads>},
                   {"too_late", pair<writes, reads_and_waits>},
                   {"over_two", over_two<passes_on, reads>},
                   {"over_two_in_part", over_two<passes_on_too_early, reads>},
                   {"over_one", over_two<passes_on_in_turn, reads_other, false>},
                   {"graph_over_two", graph_over_two<passes_on>},
                   {"graph", graph<reads>},
                   {"over_one_that_stands_by", over_two<stands_by, reads>},
                   {"over_two_that_stand_by", over_two<stands_by, reads, true, writes, 2>},
                   {"graph_over_one_that_stands_by", graph_over_two<stands_by>},
                   {"twin", pair<writes, waits_and_reads>},
                   {"implicit", pair<lets_nobody_begin, reads>},
                   {"over_two_twin", over_two<passes_on, waits_and_reads>},
                   {"over_two_in_turn", over_two<passes_on_in_turn, reads>},
                   {"graph_over_two_in_turn", graph_over_two<passes_on_in_turn>},
                   {"over_one_that_waits_alone", over_two<waits_alone, reads>},
                   {"graph_over_one_that_waits_alone", graph_over_two<waits_alone>},
                   {"over_one_that_stands_by_twin", over_two<stands_by, waits_and_reads>},
                   {"behind_one_that_stands_by", over_two<stands_by, reads_other, false>},
                   {"all_stand_by", over_two<stands_by, reads, true, lets_nobody_begin, 2>},
                   {"then_in_order", then_in_order<false>},
                   {"then_behind_an_event", then_in_order<true>},
                   {"graph_twin", graph<waits_and_reads>},
                   {"in_order", in_order}});
}
