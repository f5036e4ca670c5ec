// arch: sm_90a
// Prints a GPU's results for tensor copies: encodings with the driver's return code, loads, stores
// and reductions with a hash of the resulting memory, special values in full, and probes that show
// where bytes came from. All inputs follow from seeds. tensor/case.hpp defines the lines. The
// output of a real GPU is the reference for the software GPU's tensor copies.
//
// nvcc -std=c++17 -arch=sm_90a tensor_truth.cu -o tensor_truth
//
// tensor_truth [--list] [--only NUMBER] [--dump FILE]
//   --list  prints the cases without a GPU; --only prints one case and its whole resulting image
//   --dump  also writes the changes of memory, case by case: number, runs; each run's offset and
//           bytes; all 32-bit, little-endian
//
// A case that faults loses its CUDA context (some 0.3 s), so cases run in a child process, and a
// new one continues after it. Few cases fault, and a kind that continues to fault is given up.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tensor/all_cases.hpp"
#include "tensor/copy.cuh"

namespace tensor_truth {

using Bytes = std::vector<unsigned char>;

// Shared by the processes: the current case, and whether its line is printed.
struct Progress {
  volatile std::uint32_t current, told;
};

struct Options {
  bool list = false;
  long only = -1;
  const char* dump = nullptr;
};

class Device {
 public:
  // Global memory has as much again on both sides of the arena, so stray accesses read zeros.
  Device() {
    check(cudaMalloc(&memory_, 17 * global_bytes));
    check(cudaMemset(memory_, 0, 17 * global_bytes));
    arena_ = memory_ + 8 * global_bytes;
    check(cudaMalloc(&shared_, shared_bytes));
    check(cudaMalloc(&tx_, sizeof(std::uint32_t)));
    check(cudaMalloc(&map_, sizeof(CUtensorMap)));
    check(cudaFuncSetAttribute(copy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               shared_bytes + 1024));
    tiled_ = reinterpret_cast<decltype(tiled_)>(driver("cuTensorMapEncodeTiled"));
    im2col_ = reinterpret_cast<decltype(im2col_)>(driver("cuTensorMapEncodeIm2col"));
  }
  bool failed() const { return error_ != cudaSuccess; }
  std::string error() const { return std::string("error ") + cudaGetErrorName(error_); }

  int encode(const Map& m, CUtensorMap* result) const {
    const auto given = [&](auto* pointer, std::uint32_t bit) {
      return m.null & bit ? nullptr : pointer;
    };
    void* const global = arena_ + m.address;
    auto* const to =
        m.null & null_map
            ? nullptr
            : reinterpret_cast<CUtensorMap*>(reinterpret_cast<char*>(result) + m.misalign);
    const auto* dim = reinterpret_cast<const cuuint64_t*>(given(m.dim, null_dim));
    const auto* stride = reinterpret_cast<const cuuint64_t*>(given(m.stride, null_strides));
    const auto* steps = given(m.element_stride, null_element_strides);
    const auto type = static_cast<CUtensorMapDataType>(m.type);
    const auto interleave = static_cast<CUtensorMapInterleave>(m.interleave);
    const auto swizzle = static_cast<CUtensorMapSwizzle>(m.swizzle);
    const auto l2 = static_cast<CUtensorMapL2promotion>(m.l2);
    const auto fill = static_cast<CUtensorMapFloatOOBfill>(m.fill);
    if (m.im2col)
      return im2col_(to, type, m.rank, global, dim, stride, given(m.lower, null_lower),
                     given(m.upper, null_upper), m.channels, m.pixels, steps, interleave, swizzle,
                     l2, fill);
    return tiled_(to, type, m.rank, global, dim, stride, given(m.box, null_box), steps, interleave,
                  swizzle, l2, fill);
  }

  // Performs the copy. The images have the memory before it and, on return, after it.
  std::uint32_t perform(const Case& c, CUtensorMap map, Bytes& shared, Bytes& global) {
    std::uint32_t tx = unknown_tx;
    check(cudaMemcpy(arena_, global.data(), global_bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(shared_, shared.data(), shared_bytes, cudaMemcpyHostToDevice));
    if (c.replace.field != 0) replace(c, map);
    if (!failed()) copy_kernel<<<1, 128, shared_bytes + 1024>>>(map, job(c), shared_, tx_);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&tx, tx_, sizeof tx, cudaMemcpyDeviceToHost));
    if (is_load(c.kind))
      check(cudaMemcpy(shared.data(), shared_, shared_bytes, cudaMemcpyDeviceToHost));
    else
      check(cudaMemcpy(global.data(), arena_, global_bytes, cudaMemcpyDeviceToHost));
    return tx;
  }

 private:
  void check(cudaError_t error) {
    if (error_ == cudaSuccess) error_ = error;
  }
  void* driver(const char* name) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    if (function == nullptr) check(cudaErrorNotSupported);
    return function;
  }
  static Job job(const Case& c) {
    Job j = {};
    j.copy = is_load(c.kind) ? 0 : c.kind == Kind::store || c.kind == Kind::value_store ? 1 : 2;
    j.op = c.op;
    j.rank = c.map.rank;
    if (c.replace.field == 2) j.rank = static_cast<std::uint32_t>(c.replace.value) + 1;
    j.im2col = c.map.im2col;
    j.shared = c.shared;
    j.expected = box_bytes(replaced(c));
    for (int d = 0; d < 5; ++d) j.at[d] = c.at[d];
    for (int s = 0; s < 3; ++s) j.offset[s] = static_cast<std::uint16_t>(c.offset[s]);
    return j;
  }
  void replace(const Case& c, CUtensorMap& map) {
    Replace r = c.replace;
    if (r.field == 1) r.value += reinterpret_cast<std::uintptr_t>(arena_);
    check(cudaMemcpy(map_, &map, sizeof map, cudaMemcpyHostToDevice));
    if (!failed()) replace_kernel<<<1, 1>>>(map_, r);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&map, map_, sizeof map, cudaMemcpyDeviceToHost));
  }

  cudaError_t error_ = cudaSuccess;
  unsigned char *memory_ = nullptr, *arena_ = nullptr;
  uint4* shared_ = nullptr;
  std::uint32_t* tx_ = nullptr;
  CUtensorMap* map_ = nullptr;
  decltype(&cuTensorMapEncodeTiled) tiled_ = nullptr;
  decltype(&cuTensorMapEncodeIm2col) im2col_ = nullptr;
};

// There are few patterns, so each is made once.
const Bytes& cached(const Case& c, bool global) {
  static std::map<std::pair<unsigned, bool>, Bytes> images;
  const bool pattern = !is_value(c.kind) && c.kind != Kind::probe && (global || !is_load(c.kind));
  static Bytes once;
  if (!pattern) return once = global ? initial_global(c) : initial_shared(c);
  Bytes& image = images[{c.map.type * 16 + c.salt, global}];
  if (image.empty()) image = global ? initial_global(c) : initial_shared(c);
  return image;
}

void dump_changes(std::FILE* file, std::uint32_t number, const Bytes& before, const Bytes& after) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;
  for (std::uint32_t i = 0; i < before.size(); i += 4) {
    if (std::memcmp(&before[i], &after[i], 4) == 0) continue;
    if (!runs.empty() && runs.back().first + runs.back().second == i)
      runs.back().second += 4;
    else
      runs.push_back({i, 4});
  }
  const std::uint32_t head[] = {number, static_cast<std::uint32_t>(runs.size())};
  std::fwrite(head, 4, 2, file);
  for (const auto& [at, bytes] : runs) {
    const std::uint32_t run[] = {at, bytes};
    std::fwrite(run, 4, 2, file);
    std::fwrite(&after[at], 1, bytes, file);
  }
  std::fflush(file);
}

void print_image(const Bytes& image) {
  for (std::size_t i = 0; i < image.size(); ++i)
    std::printf(i % 32 == 31 ? "%02x\n" : "%02x", image[i]);
}

class Run {
 public:
  Run(const Options& options, std::vector<Case> cases)
      : options_(options), cases_(std::move(cases)) {}

  int go() {
    if (options_.list) return list();
    progress_ = static_cast<Progress*>(
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (progress_ == MAP_FAILED) return std::perror("mmap"), 1;
    if (options_.dump != nullptr) std::remove(options_.dump);
    const std::time_t end = std::time(nullptr) + most_seconds;
    std::uint32_t first = options_.only >= 0 ? static_cast<std::uint32_t>(options_.only) : 0;
    const std::uint32_t last = options_.only >= 0 ? first + 1 : count();
    while (first < last) {
      if (std::time(nullptr) > end) return std::printf("stopped: out of time\n"), 1;
      progress_->current = first;
      progress_->told = 0;
      std::fflush(stdout);
      const pid_t child = fork();
      if (child < 0) return std::perror("fork"), 1;
      if (child == 0) _exit(run_from(first, last));
      const int status = watch(child);
      if (WIFEXITED(status) && WEXITSTATUS(status) == no_device) return 1;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
      if (!progress_->told) tell(progress_->current, "error no answer");
      first = after_fault(progress_->current);
    }
    return 0;
  }

 private:
  static constexpr int most_seconds = 110, patience = 10, most_faults = 50;
  static constexpr int faulted = 3, no_device = 4;  // exit codes of a child
  std::uint32_t count() const { return static_cast<std::uint32_t>(cases_.size()); }
  int list() const {
    for (std::uint32_t i = 0; i < count(); ++i)
      std::printf("%u %s\n", i, to_text(cases_[i]).c_str());
    return 0;
  }
  // A group of cases that continues to fault is given up, so that the others run.
  std::uint32_t after_fault(std::uint32_t number) {
    const std::uint32_t group = cases_[number].group;
    if (++faults_[group] < most_faults) return number + 1;
    while (number < count() && cases_[number].group == group) ++number;
    std::fprintf(stderr, "tensor_truth: too many faults before case %u\n", number);
    return number;
  }
  void tell(std::uint32_t number, const std::string& answer) const {
    std::printf("%u %s = %s\n", number, to_text(cases_[number]).c_str(), answer.c_str());
    std::fflush(stdout);
    progress_->told = 1;
  }
  // Ends a child that hangs in one case.
  int watch(pid_t child) const {
    int status = 0;
    std::uint32_t seen = progress_->current;
    std::time_t since = std::time(nullptr);
    while (waitpid(child, &status, WNOHANG) == 0) {
      usleep(2000);
      if (progress_->current != seen) seen = progress_->current, since = std::time(nullptr);
      if (std::time(nullptr) - since > patience) kill(child, SIGKILL), since += patience;
    }
    return status;
  }
  int run_from(std::uint32_t first, std::uint32_t last) const {
    Device device;
    if (device.failed())
      return std::printf("%s\n", device.error().c_str()), std::fflush(stdout), no_device;
    std::FILE* dump = options_.dump != nullptr ? std::fopen(options_.dump, "ab") : nullptr;
    for (std::uint32_t i = first; i < last; ++i) {
      progress_->told = 0;
      progress_->current = i;
      tell(i, answer(device, i, dump));
      if (device.failed()) return faulted;
    }
    return 0;
  }
  std::string answer(Device& device, std::uint32_t number, std::FILE* dump) const {
    const Case& c = cases_[number];
    alignas(64) CUtensorMap maps[2] = {};
    const int code = device.encode(c.map, maps);
    if (c.kind == Kind::encode) return std::to_string(code);
    if (code != 0) return "encode " + std::to_string(code);
    Bytes shared = cached(c, false), global = cached(c, true);
    const Bytes before = is_load(c.kind) ? shared : global;
    const std::uint32_t tx = device.perform(c, maps[0], shared, global);
    if (device.failed()) return device.error();
    const Bytes& after = is_load(c.kind) ? shared : global;
    if (dump != nullptr) dump_changes(dump, number, before, after);
    if (options_.only >= 0) print_image(after);
    std::string text = image_text(c, shared.data(), global.data());
    if (is_load(c.kind)) text = (tx == unknown_tx ? "?" : std::to_string(tx)) + " " + text;
    return text;
  }

  Options options_;
  std::vector<Case> cases_;
  Progress* progress_ = nullptr;
  std::map<std::uint32_t, int> faults_;  // by group
};

}  // namespace tensor_truth

int main(int argc, char** argv) {
  tensor_truth::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--list")
      options.list = true;
    else if (word == "--only" && i + 1 < argc)
      options.only = std::atol(argv[++i]);
    else if (word == "--dump" && i + 1 < argc)
      options.dump = argv[++i];
    else
      return std::fprintf(stderr, "tensor_truth: unknown option %s\n", argv[i]), 2;
  }
  return tensor_truth::Run(options, tensor_truth::all_cases()).go();
}
