// Messages about libraries that contain only machine code.
#include "gpu/cuda/image/machine_code.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>
#include <set>

namespace inflight::cuda {
namespace {

// Libraries that are installed as binaries, and what their users can do instead of rebuilding them.
struct Built {
  std::string_view part;  // of the file's name
  std::string_view text;
};
constexpr Built built[] = {
    {"libtorch_cuda",
     "PyTorch's wheel carries machine code only for its own operations; compile the model with "
     "torch.compile, whose kernels run, or let each operation be compiled or computed on the CPU: "
     "'inflight run python -m inflight.torch SCRIPT', or 'import inflight.torch; "
     "inflight.torch.enable()'"},
};

// True at the first call for this file.
bool first_of(const std::string& file) {
  static std::mutex& mutex = *new std::mutex;
  static auto& seen = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return seen.insert(file).second;
}

}  // namespace

std::string object_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "the program";
}

std::string machine_code_only(const void* fatbin, const std::string& why) {
  const std::string file = object_of(fatbin);
  if (!first_of(file)) return {};
  const std::string_view name = std::string_view(file).substr(file.rfind('/') + 1);
  for (const Built& each : built)
    if (name.starts_with(each.part)) return std::string(each.text);
  return name.find(".so") == name.npos ? why : fmt::format("{}: {}", name, why);
}

}  // namespace inflight::cuda
