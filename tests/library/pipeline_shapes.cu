// flags: -diag-suppress=20054
// The documented forms of a pipeline, the library's and NVIDIA's from one source, at several
// depths, compared with the host. (The suppressed warning is about NVIDIA's shared state.)
#include "bench/library/shapes.cuh"
#include "tests/kernels/kernel_test.cuh"

namespace {

using Kernel = void (*)(int*, const int*, int);

template <class Api>
struct Checker {
  const Buffer<int>& in;
  const std::vector<int>& source;

  void operator()(const char* what, Kernel kernel, int threads, int tile, int batches) const {
    Buffer<int> out(source.size());
    kernel<<<unsigned(source.size() / (tile * batches)), threads>>>(out, in, batches);
    out.read();
    bool right = true;
    for (std::size_t i = 0; i < source.size(); ++i) right &= out.host[i] == source[i] * 3 + 1;
    std::printf("%s, %s, %d batches: %s\n", Api::name, what, batches, right ? "right" : "WRONG");
  }
};

template <class Api, int Threads, int PerThread>
void check(const Buffer<int>& in, const std::vector<int>& source) {
  using namespace shapes;
  constexpr int tile = Threads * PerThread;
  std::printf("%d threads, %d elements each\n", Threads, PerThread);
  Checker<Api> run{in, source};
  run("one stage", single_stage<Api, Threads, PerThread, 1>, Threads, tile, 4);
  run("two stages", staging<Api, Threads, PerThread, 2>, Threads, tile, 4);
  run("two stages", staging<Api, Threads, PerThread, 2>, Threads, tile, 1);
  run("unified, 2", unified<Api, Threads, PerThread, 2>, Threads, tile, 8);
  run("unified, 3", unified<Api, Threads, PerThread, 3>, Threads, tile, 8);
  run("unified, 4", unified<Api, Threads, PerThread, 4>, Threads, tile, 2);
  run("specialised, 2", specialised<Api, Threads, PerThread, 2>, Threads, tile, 4);
  run("specialised, 3", specialised<Api, Threads, PerThread, 3>, Threads, tile, 4);
  run("thread scope, 1", thread_scope<Api, Threads, PerThread, 1>, Threads, tile, 4);
  run("thread scope, 2", thread_scope<Api, Threads, PerThread, 2>, Threads, tile, 8);
  run("thread scope, 5", thread_scope<Api, Threads, PerThread, 5>, Threads, tile, 8);
  run("thread scope, 8", thread_scope<Api, Threads, PerThread, 8>, Threads, tile, 4);
}

// The documented form of one thread's pipeline, without a depth: `Ahead` batches are in flight.
template <int Ahead>
__global__ void unnamed_depth(int* out, const int* in, int batches) {
  __shared__ int shared[Ahead][64];
  inflight::pipeline<inflight::thread_scope_thread> pipe = inflight::make_pipeline();
  for (int done = 0, fetched = 0; done < batches; ++done) {
    for (; fetched < batches && fetched < done + Ahead; ++fetched) {
      pipe.producer_acquire();
      inflight::memcpy_async(&shared[fetched % Ahead][threadIdx.x],
                             in + shapes::start<64>(fetched) + threadIdx.x, sizeof(int), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    shapes::compute<64, 64>(out + shapes::start<64>(done), shared[done % Ahead], threadIdx.x);
    pipe.consumer_release();
  }
}

void own_of_unknown_depth(const Buffer<int>& in, const std::vector<int>& source) {
  Checker<shapes::ours> run{in, source};
  run("unnamed depth, 1 ahead", unnamed_depth<1>, 64, 64, 8);
  run("unnamed depth, 2 ahead", unnamed_depth<2>, 64, 64, 8);
  run("unnamed depth, 3 ahead", unnamed_depth<3>, 64, 64, 16);
  run("unnamed depth, 4 ahead", unnamed_depth<4>, 64, 64, 8);
  run("unnamed depth, 7 ahead", unnamed_depth<7>, 64, 64, 16);
}

}  // namespace

int main() {
  std::vector<int> values(1 << 15);
  Random random(4);
  for (int& each : values) each = int(random.next32() >> 4);
  const auto source = values;
  Buffer<int> in(source);
  check<shapes::ours, 128, 1>(in, source);
  check<shapes::ours, 64, 8>(in, source);
  check<shapes::nvidia, 64, 4>(in, source);
  own_of_unknown_depth(in, source);
}
