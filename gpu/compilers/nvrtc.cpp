// libnvrtc: NVIDIA's own compiler behind the public functions of nvrtc.h. Where a program requests
// machine code, it is compiled for the virtual architecture of the same number, and gets PTX.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/compilers/architecture.hpp"
#include "gpu/compilers/original.hpp"
#include "gpu/compilers/register_limit.hpp"
#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/cuda/image/linked.hpp"

#define INFLIGHT_EXPORT extern "C" [[gnu::visibility("default")]]

namespace inflight::compilers {
namespace {

using Handle = void*;  // nvrtcProgram
// nvrtcResult. Results of NVIDIA's library are returned unchanged.
constexpr int success = 0, out_of_memory = 1, internal_error = 11;

Original& original() {
  static auto* library =
      new Original("libnvrtc.so." INFLIGHT_SOVERSION,
                   INFLIGHT_SOVERSION[1] == '2' ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc");
  return *library;
}

// The programs compiled for sm_XX, which get their PTX as machine code, with their register limits.
// Thread-safe.
class MachineCode {
 public:
  void add(Handle program, unsigned registers) {
    std::lock_guard lock(mutex_);
    programs_[program] = registers;
  }
  void remove(Handle program) {
    std::lock_guard lock(mutex_);
    programs_.erase(program);
  }
  std::optional<unsigned> registers(Handle program) {
    std::lock_guard lock(mutex_);
    const auto at = programs_.find(program);
    return at == programs_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<Handle, unsigned> programs_;
};

MachineCode& machine_code() {
  static auto* programs = new MachineCode;
  return *programs;
}

// Returns body(), or an error code if it throws.
template <class Body>
int bounded(const char* call, Body&& body) {
  int result = internal_error;
  const cuda::Status status = cuda::guarded(call, [&] {
    result = body();
    return cuda::Status::success;
  });
  if (status == cuda::Status::success) return result;
  return status == cuda::Status::out_of_memory ? out_of_memory : internal_error;
}

template <class F, class... Arguments>
int ask(const char* name, Arguments... arguments) {
  return bounded(name, [&] {
    F* function = original().function<F>(name);
    return function ? function(arguments...) : internal_error;
  });
}

bool are_readable(int count, const char* const* options) {
  for (int i = 0; i < count; ++i) {
    if (!options || !options[i]) return false;
  }
  return true;
}

// Stores the PTX that replaces machine code, with a NUL. Empty if the program was not compiled.
int loadable(Handle program, unsigned registers, std::string& to) {
  std::size_t bytes = 0;
  int result = ask<int(Handle, std::size_t*)>("nvrtcGetPTXSize", program, &bytes);
  std::string ptx(bytes, '\0');
  if (result == success) result = ask<int(Handle, char*)>("nvrtcGetPTX", program, ptx.data());
  ptx.resize(std::min(ptx.size(), ptx.find('\0')));
  to = ptx.empty() ? ptx : limit_registers(ptx, registers).append(cuda::assembled_mark) + '\0';
  return result;
}

int compile(Handle program, int count, const char* const* options) {
  auto asked = without_machine_code({options, options + count});
  std::vector<const char*> words;
  for (const std::string& word : asked.words) words.push_back(word.c_str());
  const int result = ask<int(Handle, int, const char* const*)>("nvrtcCompileProgram", program,
                                                               count, words.data());
  if (asked.machine_code)
    machine_code().add(program, asked.registers);
  else
    machine_code().remove(program);
  return result;
}

}  // namespace

#define INFLIGHT_NVRTC(name, parameters, arguments)                \
  INFLIGHT_EXPORT int name parameters {                            \
    return bounded(#name, [&] {                                    \
      auto* function = original().function<decltype(name)>(#name); \
      return function ? function arguments : internal_error;       \
    });                                                            \
  }
#include "gpu/compilers/nvrtc.def"

INFLIGHT_EXPORT const char* nvrtcGetErrorString(int result) {
  const char* text = "NVRTC could not be asked for the text";
  cuda::guarded("nvrtcGetErrorString", [&] {
    auto* function = original().function<decltype(nvrtcGetErrorString)>("nvrtcGetErrorString");
    text = function ? function(result) : "NVRTC is not installed";
    return cuda::Status::success;
  });
  return text;
}

INFLIGHT_EXPORT int nvrtcCompileProgram(Handle program, int count, const char* const* options) {
  if (count >= 0 && are_readable(count, options))
    return bounded("nvrtcCompileProgram", [&] { return compile(program, count, options); });
  return ask<int(Handle, int, const char* const*)>("nvrtcCompileProgram", program, count, options);
}

INFLIGHT_EXPORT int nvrtcDestroyProgram(Handle* program) {
  constexpr const char* name = "nvrtcDestroyProgram";
  return bounded(name, [&] {
    if (program) machine_code().remove(*program);
    return ask<int(Handle*)>(name, program);
  });
}

INFLIGHT_EXPORT int nvrtcGetCUBINSize(Handle program, std::size_t* bytes) {
  constexpr const char* name = "nvrtcGetCUBINSize";
  return bounded(name, [&] {
    const auto registers = machine_code().registers(program);
    if (!bytes || !registers) return ask<int(Handle, std::size_t*)>(name, program, bytes);
    std::string image;
    const int result = loadable(program, *registers, image);
    *bytes = image.size();
    return result;
  });
}

INFLIGHT_EXPORT int nvrtcGetCUBIN(Handle program, char* cubin) {
  constexpr const char* name = "nvrtcGetCUBIN";
  return bounded(name, [&] {
    const auto registers = machine_code().registers(program);
    if (!cubin || !registers) return ask<int(Handle, char*)>(name, program, cubin);
    std::string image;
    const int result = loadable(program, *registers, image);
    if (result == success) std::memcpy(cubin, image.data(), image.size());
    return result;
  });
}

}  // namespace inflight::compilers
