// arch: compute_80
// Times the four kernels on the CUDA runtime's device.
#include "kernels.cuh"
#include "workload.hpp"

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}
void wait() { check(cudaDeviceSynchronize()); }

template <class T>
struct Buffer {
  explicit Buffer(const std::vector<T>& host) : count(host.size()) {
    check(cudaMalloc(&data, count * sizeof(T)));
    put(host);
  }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void put(const std::vector<T>& host) {
    check(cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> get() const {
    std::vector<T> host(count);
    check(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
  T* data = nullptr;
  std::size_t count;
};

void time_saxpy(int n, const workload::Arguments& asked) {
  const auto x = workload::ramp(n), y = workload::ramp(n);
  Buffer<float> dx(x), dy(y);
  workload::report(
      "saxpy", n, asked, [&] { dy.put(y); },
      [&] {
        saxpy<<<n / 256, 256>>>(n, 2.0f, dx.data, dy.data);
        wait();
      },
      [&] { return workload::right_saxpy(x, 2.0f, y, dy.get()); });
}

void time_sgemm(int n, const workload::Arguments& asked) {
  const auto a = workload::ramp(n * n), b = workload::ramp(n * n);
  Buffer<float> da(a), db(b), dc(std::vector<float>(n * n, 0));
  workload::report(
      "sgemm", n, asked, [] {},
      [&] {
        sgemm<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(n, da.data, db.data, dc.data);
        wait();
      },
      [&] { return workload::right_sgemm(n, a, b, dc.get()); });
}

void time_reduce(int n, const workload::Arguments& asked) {
  const auto in = workload::ramp(n);
  Buffer<float> din(in), dout(std::vector<float>(n / reduce_block, 0));
  workload::report(
      "reduce", n, asked, [] {},
      [&] {
        reduce<<<n / reduce_block, reduce_block>>>(din.data, dout.data);
        wait();
      },
      [&] { return workload::right_reduce(in, dout.get()); });
}

void time_bitonic(int n, const workload::Arguments& asked) {
  const auto keys = workload::keys(n);
  Buffer<unsigned> d(keys);
  workload::report(
      "bitonic", n, asked, [&] { d.put(keys); },
      [&] {
        for (int k = 2; k <= n; k <<= 1)
          for (int j = k >> 1; j > 0; j >>= 1) bitonic<<<n / 256, 256>>>(d.data, j, k);
        wait();
      },
      [&] { return workload::right_bitonic(d.get()); });
}

}  // namespace

int main(int argc, char** argv) {
  const auto a = workload::parse(argc, argv);
  time_saxpy(a.sizes.saxpy, a);
  for (int n : a.sizes.sgemm) time_sgemm(n, a);
  time_reduce(a.sizes.reduce, a);
  time_bitonic(a.sizes.bitonic, a);
  return 0;
}
