// Work that waits for an event of the attribute LaunchCompletionEvent follows everything before the
// event's kernel, but not the kernel.
#include "tests/kernels/check/check_test.cuh"

__global__ void writes(int* data) { data[threadIdx.x] = threadIdx.x; }  // [writes]
__global__ void reads(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x ^ 1];  // [reads]
}

struct Streams {
  cudaStream_t a, b;
  cudaEvent_t begun, ended;
  Streams() {
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&ended, cudaEventDisableTiming));
  }
  void write(int* data) {
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeLaunchCompletionEvent;
    a.val.launchCompletionEvent.event = begun;
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 64, config.stream = this->a;
    config.attrs = &a, config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, writes, data));
  }
};

template <bool right>
void stream() {
  Buffer<int> data(64), out(64);
  CHECK(cudaDeviceSynchronize());
  Streams s;
  s.write(data);
  CHECK(cudaEventRecord(s.ended, s.a));
  CHECK(cudaStreamWaitEvent(s.b, right ? s.ended : s.begun));
  reads<<<1, 64, 0, s.b>>>(data, out);
  CHECK(cudaDeviceSynchronize());
}

template <bool right>
void host() {
  Buffer<int> data(64), out(64);
  CHECK(cudaDeviceSynchronize());
  Streams s;
  s.write(data);
  CHECK(cudaEventRecord(s.ended, s.a));
  CHECK(cudaEventSynchronize(right ? s.ended : s.begun));
  reads<<<1, 64, 0, s.b>>>(data, out);
  CHECK(cudaDeviceSynchronize());
}

// The work before the kernel has ended.
void in_front_twin() {
  Buffer<int> data(64), other(64), out(64);
  CHECK(cudaDeviceSynchronize());
  Streams s;
  writes<<<1, 64, 0, s.a>>>(data);
  s.write(other);
  CHECK(cudaStreamWaitEvent(s.b, s.begun));
  reads<<<1, 64, 0, s.b>>>(data, out);
  CHECK(cudaDeviceSynchronize());
}

// This includes the events that its stream has waited for.
void awaited_twin() {
  Buffer<int> data(64), other(64), out(64);
  CHECK(cudaDeviceSynchronize());
  Streams s;
  cudaStream_t c;
  CHECK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
  writes<<<1, 64, 0, c>>>(data);
  CHECK(cudaEventRecord(s.ended, c));
  CHECK(cudaStreamWaitEvent(s.a, s.ended));
  s.write(other);
  CHECK(cudaStreamWaitEvent(s.b, s.begun));
  reads<<<1, 64, 0, s.b>>>(data, out);
  CHECK(cudaDeviceSynchronize());
}

// Captured, the event is an edge from the kernel's port.
template <bool right>
void graph() {
  Buffer<int> data(64), other(64), out(64);
  CHECK(cudaDeviceSynchronize());
  Streams s;
  CHECK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
  writes<<<1, 64, 0, s.a>>>(data);
  s.write(right ? other : data);
  CHECK(cudaStreamWaitEvent(s.b, s.begun));
  reads<<<1, 64, 0, s.b>>>(data, out);
  CHECK(cudaEventRecord(s.ended, s.b));
  CHECK(cudaStreamWaitEvent(s.a, s.ended));
  cudaGraph_t made;
  cudaGraphExec_t exec;
  CHECK(cudaStreamEndCapture(s.a, &made));
  CHECK(cudaGraphInstantiate(&exec, made, 0));
  CHECK(cudaGraphLaunch(exec, s.a));
  CHECK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"stream", stream<false>},
                   {"stream_twin", stream<true>},
                   {"host", host<false>},
                   {"host_twin", host<true>},
                   {"graph", graph<false>},
                   {"graph_twin", graph<true>},
                   {"in_front_twin", in_front_twin},
                   {"awaited_twin", awaited_twin}});
}
