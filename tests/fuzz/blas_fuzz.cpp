// cuBLAS calls with sizes and leading dimensions whose products wrap, on memory that is too small
// for them. They are refused, or end with a fault of the device, and no byte outside of the
// allocations changes.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/host_memory.hpp"
#include "tests/fuzz/in_child.hpp"
#include "tests/fuzz/reporting.hpp"

namespace {

using namespace inflight::fuzz;
using Number = std::uint64_t;

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuCtxSynchronize();
int cuMemAlloc_v2(Number*, std::size_t);
int cuMemHostRegister_v2(void*, std::size_t, unsigned);
int cublasCreate_v2(void**);
}

constexpr unsigned patience = 15;  // seconds per input
constexpr std::size_t registered_bytes = 1 << 16;

// What is called, where the parent can read it after the child.
struct Notes {
  std::size_t size;
  std::array<char, 1 << 14> text;
  void add(const std::string& line) {
    const std::size_t bytes = std::min(line.size(), text.size() - size);
    std::memcpy(text.data() + size, line.data(), bytes);
    size += bytes;
  }
};
Notes& notes() {
  static auto* const shared = static_cast<Notes*>(
      mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *shared;
}

void must(int code, const char* what) { require(code == 0, what); }

struct Area {
  char* base;
  std::size_t size;
};

// The letters of a call's arguments: o an operation (0 to 2), z zero, d a dimension, s a pointer to
// a scalar, m memory with a leading dimension or an increment behind it.
struct Call {
  const char *name, *arguments;
};
constexpr Call calls[] = {
    {"cublasSgemm_v2", "oodddsmmsm"}, {"cublasDgemm_v2", "oodddsmmsm"},
    {"cublasZgemm_v2", "oodddsmmsm"}, {"cublasCgemm_v2", "oodddsmmsm"},
    {"cublasSgeam", "ooddsmsmm"},     {"cublasZgeam", "ooddsmsmm"},
    {"cublasDgemv_v2", "oddsmmsm"},   {"cublasZgemv_v2", "oddsmmsm"},
    {"cublasDtrsm_v2", "zzozddsmm"},  {"cublasZtrsm_v2", "zzozddsmm"},
    {"cublasDsyrk_v2", "zoddsmsm"},   {"cublasZherk_v2", "zoddsmsm"},
    {"cublasDger_v2", "ddsmmm"},      {"cublasSscal_v2", "dsm"},
    {"cublasZscal_v2", "dsm"},        {"cublasScopy_v2", "dmm"},
    {"cublasZcopy_v2", "dmm"},        {"cublasDaxpy_v2", "dsmm"},
    {"cublasZaxpy_v2", "dsmm"},       {"cublasDswap_v2", "dmm"},
    {"cublasZdgmm", "zddmmm"},
};

// Each argument takes a register or 8 bytes of the stack.
using Function = int (*)(void*, Number, Number, Number, Number, Number, Number, Number, Number,
                         Number, Number, Number, Number, Number, Number);
#ifdef __clang__  // its sanitizer compares the types
__attribute__((no_sanitize("function")))
#endif
int call_with(Function f, void* handle, const std::array<Number, 14>& a) {
  return f(handle, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
           a[13]);
}

void make(void* handle, const Call& call, const std::array<Area, 4>& areas, Choices& choices) {
  // Products of these come back to small numbers.
  static constexpr Number large[] = {1 << 30,       (1 << 30) + 1, 1 << 30, (1 << 30) + 1,
                                     (1 << 28) + 1, 0x7fffffff,    46341,   0};
  static double scalars[4] = {1, 0, 1, 0};
  const bool wild = choices.one_in(2);
  const auto dimension = [&]() -> Number {
    return wild && choices.one_in(2) ? choices.pick(large) : 1 + choices.below(12);
  };
  std::array<Number, 14> arguments{};
  std::size_t count = 0;
  for (const char* letter = call.arguments; *letter; ++letter) {
    if (*letter == 'o') arguments[count++] = choices.below(3);
    if (*letter == 'z') arguments[count++] = choices.below(2);
    if (*letter == 'd') arguments[count++] = dimension();
    if (*letter == 's') arguments[count++] = reinterpret_cast<Number>(scalars);
    if (*letter != 'm') continue;
    const Area& in = choices.pick(areas);
    arguments[count++] = reinterpret_cast<Number>(in.base) +
                         (choices.one_in(2) ? 0 : 16 * choices.below(in.size / 16));
    arguments[count++] = dimension();
  }
  std::string line = std::string(call.name) + "(handle";
  for (std::size_t i = 0; i < count; ++i) line += fmt::format(", {:#x}", arguments[i]);
  notes().add(line + ")\n");
  void* const found = dlsym(RTLD_DEFAULT, call.name);
  require(found, std::string("cuBLAS has ") + call.name);
  call_with(reinterpret_cast<Function>(found), handle, arguments);
}

void run(Choices choices) {
  setenv("INFLIGHT_MEMORY", "256M", 1);
  setenv("INFLIGHT_WORKERS", "1", 1);
  setenv("INFLIGHT_ERROR_EXITCODE", "0", 1);
  must(cuInit(0), "the driver begins");
  void *context = nullptr, *handle = nullptr;
  must(cuDevicePrimaryCtxRetain(&context, 0), "there is a device");
  must(cuCtxSetCurrent(context), "its context can be used");
  const HostMemory host;
  must(cuMemHostRegister_v2(host.base(), registered_bytes, 0), "memory can be registered");
  must(
      cuMemHostRegister_v2(host.base() + HostMemory::bytes - registered_bytes, registered_bytes, 0),
      "memory can be registered");
  std::array<Area, 4> areas{
      Area{host.base(), registered_bytes},
      Area{host.base() + HostMemory::bytes - registered_bytes, registered_bytes}};
  for (std::size_t i = 2; i < areas.size(); ++i) {
    Number made = 0;
    must(cuMemAlloc_v2(&made, 1 << 14), "there is memory");
    areas[i] = {reinterpret_cast<char*>(made), 1 << 14};
  }
  // Between the registered parts lies memory of the program.
  std::memset(host.base() + registered_bytes, 0x33, HostMemory::bytes - 2 * registered_bytes);
  if (cublasCreate_v2(&handle) != 0) return;  // no BLAS on this host
  for (std::uint32_t n = 1 + choices.below(12); n--;)
    make(handle, choices.pick(calls), areas, choices);
  cuCtxSynchronize();
  require(host.changed().empty(), "no call changes memory beside its allocation");
  require(std::all_of(host.base() + registered_bytes,
                      host.base() + HostMemory::bytes - registered_bytes,
                      [](char b) { return b == 0x33; }),
          "no call changes memory of the program that is not registered");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  notes().size = 0;
  const ChildEnd end = in_child(patience, [&] { run(Choices(data, size)); });
  if (end.well()) return 0;
  running().assign(notes().text.data(), notes().size);
  fail(described(end));
}
