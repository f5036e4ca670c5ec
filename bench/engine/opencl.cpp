// Times the four kernels on an OpenCL device: the first whose platform name contains the text in
// BENCH_OPENCL_PLATFORM, else the first of all. argv[1] is the kernels' source file.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>

#include "workload.hpp"

namespace {

constexpr std::size_t tile = 16, block = 256;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "OpenCL: %s\n", what.c_str());
  std::exit(1);
}
void check(cl_int error, const char* call) {
  if (error != CL_SUCCESS) fail(std::string(call) + " returned " + std::to_string(error));
}

std::string name_of(cl_platform_id platform) {
  std::array<char, 256> name{};
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr);
  return name.data();
}

cl_device_id choose() {
  std::array<cl_platform_id, 16> platforms{};
  cl_uint count = 0;
  if (clGetPlatformIDs(platforms.size(), platforms.data(), &count) != CL_SUCCESS || count == 0)
    fail("no platform");
  const char* wanted = std::getenv("BENCH_OPENCL_PLATFORM");
  for (cl_uint i = 0; i < std::min<cl_uint>(count, platforms.size()); ++i) {
    const std::string name = name_of(platforms[i]);
    if (wanted && name.find(wanted) == std::string::npos) continue;
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
      continue;
    std::fprintf(stderr, "platform %s\n", name.c_str());
    return device;
  }
  fail("no device of the wanted platform");
}

class Machine {
 public:
  explicit Machine(const std::string& source) : device_(choose()) {
    cl_int e = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &e);
    check(e, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device_, 0, &e);
    check(e, "clCreateCommandQueue");
    const char* text = source.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, &e);
    check(e, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  void wait() { check(clFinish(queue_), "clFinish"); }

  template <class... A>
  cl_kernel kernel(const char* name, A... arguments) {
    cl_int e = 0;
    cl_kernel k = clCreateKernel(program_, name, &e);
    check(e, "clCreateKernel");
    set(k, 0, arguments...);
    return k;
  }
  void launch(cl_kernel k, std::array<std::size_t, 2> global, std::array<std::size_t, 2> local) {
    check(clEnqueueNDRangeKernel(queue_, k, global[1] > 1 ? 2 : 1, nullptr, global.data(),
                                 local.data(), 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
  template <class... A>
  void set(cl_kernel k, cl_uint first, A... arguments) {
    (check(clSetKernelArg(k, first++, sizeof arguments, &arguments), "clSetKernelArg"), ...);
  }

  template <class T>
  cl_mem buffer(const std::vector<T>& host) {
    cl_int e = 0;
    cl_mem m = clCreateBuffer(context_, CL_MEM_READ_WRITE, host.size() * sizeof(T), nullptr, &e);
    check(e, "clCreateBuffer");
    put(m, host);
    return m;
  }
  template <class T>
  void put(cl_mem m, const std::vector<T>& host) {
    check(clEnqueueWriteBuffer(queue_, m, CL_TRUE, 0, host.size() * sizeof(T), host.data(), 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  template <class T>
  std::vector<T> get(cl_mem m, std::size_t count) {
    std::vector<T> host(count);
    check(clEnqueueReadBuffer(queue_, m, CL_TRUE, 0, count * sizeof(T), host.data(), 0, nullptr,
                              nullptr),
          "clEnqueueReadBuffer");
    return host;
  }

 private:
  cl_device_id device_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

void time_saxpy(Machine& m, int n, const workload::Arguments& asked) {
  const auto x = workload::ramp(n), y = workload::ramp(n);
  cl_mem dx = m.buffer(x), dy = m.buffer(y);
  cl_kernel k = m.kernel("saxpy", n, 2.0f, dx, dy);
  workload::report(
      "saxpy", n, asked, [&] { m.put(dy, y); },
      [&] {
        m.launch(k, {std::size_t(n), 1}, {block, 1});
        m.wait();
      },
      [&] { return workload::right_saxpy(x, 2.0f, y, m.get<float>(dy, n)); });
  clReleaseKernel(k), clReleaseMemObject(dx), clReleaseMemObject(dy);
}

void time_sgemm(Machine& m, int n, const workload::Arguments& asked) {
  const std::size_t side = n;
  const auto a = workload::ramp(side * side), b = workload::ramp(side * side);
  cl_mem da = m.buffer(a), db = m.buffer(b), dc = m.buffer(std::vector<float>(side * side, 0));
  cl_kernel k = m.kernel("sgemm", n, da, db, dc);
  workload::report(
      "sgemm", n, asked, [] {},
      [&] {
        m.launch(k, {side, side}, {tile, tile});
        m.wait();
      },
      [&] { return workload::right_sgemm(n, a, b, m.get<float>(dc, side * side)); });
  clReleaseKernel(k);
  for (cl_mem d : {da, db, dc}) clReleaseMemObject(d);
}

void time_reduce(Machine& m, int n, const workload::Arguments& asked) {
  const auto in = workload::ramp(n);
  cl_mem din = m.buffer(in), dout = m.buffer(std::vector<float>(n / block, 0));
  cl_kernel k = m.kernel("reduce", din, dout);
  workload::report(
      "reduce", n, asked, [] {},
      [&] {
        m.launch(k, {std::size_t(n), 1}, {block, 1});
        m.wait();
      },
      [&] { return workload::right_reduce(in, m.get<float>(dout, n / block)); });
  clReleaseKernel(k), clReleaseMemObject(din), clReleaseMemObject(dout);
}

void time_bitonic(Machine& m, int n, const workload::Arguments& asked) {
  const auto keys = workload::keys(n);
  cl_mem d = m.buffer(keys);
  cl_kernel kernel = m.kernel("bitonic", d, 0, 0);
  workload::report(
      "bitonic", n, asked, [&] { m.put(d, keys); },
      [&] {
        for (int k = 2; k <= n; k <<= 1)
          for (int j = k >> 1; j > 0; j >>= 1) {
            m.set(kernel, 1, j, k);
            m.launch(kernel, {std::size_t(n), 1}, {block, 1});
          }
        m.wait();
      },
      [&] { return workload::right_bitonic(m.get<unsigned>(d, n)); });
  clReleaseKernel(kernel), clReleaseMemObject(d);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: opencl KERNELS.cl [REPETITIONS] [--small]");
  std::ifstream in(argv[1]);
  Machine machine(std::string(std::istreambuf_iterator<char>(in), {}));
  const auto a = workload::parse(argc - 1, argv + 1);
  time_saxpy(machine, a.sizes.saxpy, a);
  for (int n : a.sizes.sgemm) time_sgemm(machine, n, a);
  time_reduce(machine, a.sizes.reduce, a);
  time_bitonic(machine, a.sizes.bitonic, a);
  return 0;
}
