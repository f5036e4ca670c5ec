// flags: -lcuda -ldl
// Compiles kernels.cu with NVRTC, loads it through the driver API, runs every kernel and compares
// with the host: program LIBNVRTC INCLUDE SOURCE. It opens NVRTC at run time, so it builds without
// it.
#include <cuda.h>
#include <dlfcn.h>

#include <functional>
#include <inflight/tensor_map.cuh>

#include "tests/kernels/kernel_test.cuh"

// NVRTC documentation, "Compilation".
struct Nvrtc {
  void* library;
  explicit Nvrtc(const char* path) : library(dlopen(path, RTLD_NOW)) {
    if (library == nullptr) std::printf("%s\n", dlerror()), std::exit(3);
  }
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    return reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name))(arguments...);
  }

  std::string ptx(const char* source, const char* name, std::vector<const char*> options) const {
    void* program = nullptr;
    call("nvrtcCreateProgram", &program, source, name, 0, static_cast<const char* const*>(nullptr),
         static_cast<const char* const*>(nullptr));
    const bool good =
        call("nvrtcCompileProgram", program, int(options.size()), options.data()) == 0;
    std::size_t size = 0;
    call(good ? "nvrtcGetPTXSize" : "nvrtcGetProgramLogSize", program, &size);
    std::string text(size, 0);
    call(good ? "nvrtcGetPTX" : "nvrtcGetProgramLog", program, text.data());
    call("nvrtcDestroyProgram", &program);
    if (!good) std::printf("%s", text.c_str()), std::exit(1);
    return text;
  }
};

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) std::printf("%s: error %d\n", what, int(result)), std::exit(3);
}
#define CHECK_DRIVER(call) check(call, #call)

constexpr int threads = 128, count = 4 * threads;
int in_at(int i) { return i * 37 % 101 + i; }

// The sum or the greatest of in[first] to in[last - 1].
int sum(int first, int last) {
  int total = 0;
  for (int i = first; i < last; ++i) total += in_at(i);
  return total;
}

struct Kernel {
  const char* name;
  unsigned blocks;
  std::function<int(int)> expected;  // of thread i
};

int odd_members(int i) {
  int members = 0;
  for (int k = i / 8 * 8; k < i / 8 * 8 + 8; ++k) members += (in_at(k) & 1) == (in_at(i) & 1);
  return members;
}
int collectives(int i) {
  int greatest = 0, least = in_at(i);
  for (int k = 0; k < threads; ++k) greatest = std::max(greatest, in_at(k));
  for (int k = i / 4 * 4; k < i / 4 * 4 + 4; ++k) least = std::min(least, in_at(k));
  return sum(i / 32 * 32, i / 32 * 32 + 32) + sum(i / 64 * 64, i + 1) + greatest + least + 1000 +
         sum(0, i);
}
int last(int i) { return in_at(threads - 1 - i); }

const Kernel on_all[] = {
    {"groups", 1, [](int i) { return in_at(i ^ 1) * 100 + odd_members(i) + i % 16; }},
    {"collectives", 1, collectives},
    {"grid", 4, [](int i) { return in_at((i + threads) % count) + (i + threads) % count; }},
    {"copies", 1, [](int i) { return last(i) - in_at(threads + i); }},
    {"group_copies", 1, last},
    {"barriers", 1, last},
    {"pipelines", 1,
     [](int i) {
       const int at = threads - 1 - i;
       return in_at(at) + in_at(at + threads) + in_at(at + 2 * threads) + in_at(at + 3 * threads);
     }},
};
const Kernel on_sm_90[] = {
    {"clusters", 2, [](int i) { return in_at(i < threads ? 1 : 0) + 2 * threads; }},
    {"bulk_copies", 1, [](int i) { return in_at(i) + 1; }},
    {"tensors", 1, [](int i) { return in_at(i / 16 * 64 + 16 + i % 16); }},
};

void run(CUmodule module, const Kernel& kernel, const std::vector<int>& in) {
  CUfunction function;
  CHECK_DRIVER(cuModuleGetFunction(&function, module, kernel.name));
  Buffer<int> from(in), to(2 * count);
  int *out = to.device, *source = from.device;
  using box = inflight::swizzled_tile<int, 8, 16, inflight::swizzle::b64>;
  inflight::tile_map<box> map;
  void* arguments[] = {&out, &source};
  if (std::string(kernel.name) == "tensors") {
    map = inflight::make_tensor_map<box>(source, {64, 8}).value();
    arguments[1] = &map;
  }
  if (std::string(kernel.name) == "grid")
    CHECK_DRIVER(cuLaunchCooperativeKernel(function, kernel.blocks, 1, 1, threads, 1, 1, 0, nullptr,
                                           arguments));
  else
    CHECK_DRIVER(cuLaunchKernel(function, kernel.blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments,
                                nullptr));
  to.read();
  int wrong = 0;
  for (int i = 0; i < int(kernel.blocks) * threads; ++i) wrong += to.host[i] != kernel.expected(i);
  std::printf("%s: %s\n", kernel.name, wrong == 0 ? "right" : "wrong");
}

int main(int, char** arguments) {
  const Nvrtc nvrtc(arguments[1]);
  CHECK(cudaFree(nullptr));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  const bool hopper = device.major >= 9;
  const std::string include = std::string("-I") + arguments[2];
  const std::string text = std::string("#include \"") + arguments[3] + "\"\n";
  const std::string ptx =
      nvrtc.ptx(text.c_str(), "kernels",
                {hopper ? "-arch=compute_90a" : "-arch=compute_80", include.c_str()});
  CUmodule module;
  CHECK_DRIVER(cuModuleLoadData(&module, ptx.c_str()));
  std::vector<int> in(count);
  for (int i = 0; i < count; ++i) in[i] = in_at(i);
  for (const Kernel& kernel : on_all) run(module, kernel, in);
  if (hopper)
    for (const Kernel& kernel : on_sm_90) run(module, kernel, in);
}
