// Finds objects in the loader's list and functions in their files' symbol tables.
#include "gpu/cuda/core/watch/host_places.hpp"

#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>

#include "gpu/check/names.hpp"
#include "gpu/cuda/core/watch/host_caller.hpp"
#include "gpu/cuda/core/watch/objects.hpp"
#include "gpu/cuda/image/elf_tables.hpp"
#include "gpu/host/input_file.hpp"

namespace inflight::cuda::watch {
namespace {

// Libraries whose functions access memory on behalf of their caller.
constexpr std::string_view system_libraries[] = {
    "libc.so",      "libm.so", "libstdc++.so", "libgcc_s.so", "libpthread.so", "ld-linux-x86-64.so",
    "linux-vdso.so"};

struct Object {
  std::string path;  // of its file
  std::uint64_t base = 0;
};

// The object whose segments contain the address.
std::optional<Object> object_at(std::uint64_t address) {
  std::optional<Object> found;
  each_object([&](const dl_phdr_info& info) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info.dlpi_phdr[i];
      const std::uint64_t low = info.dlpi_addr + segment.p_vaddr;
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && address >= low &&
          address < low + segment.p_memsz)
        found = Object{*info.dlpi_name ? info.dlpi_name : "/proc/self/exe", info.dlpi_addr};
    }
  });
  return found;
}

class File {
 public:
  explicit File(const std::string& path) {
    const auto file = host::InputFile::open(path);
    if (!file || file->size() == 0) return;
    bytes_ = file->size();
    place_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file->fd(), 0);
  }
  ~File() {
    if (place_ != MAP_FAILED) munmap(place_, bytes_);
  }
  File(const File&) = delete;
  Bytes bytes() const {
    return place_ == MAP_FAILED ? Bytes{} : Bytes{static_cast<const std::byte*>(place_), bytes_};
  }

 private:
  void* place_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};

// The function at an address of the file, or an empty text if it has no symbol.
std::string function_in(const Object& object, std::uint64_t address) {
  const File file(object.path);
  const auto take = [&](std::uint64_t at, std::uint64_t bytes) {
    return slice(file.bytes(), at, bytes);
  };
  const ElfTables tables(take);
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    const ElfSymbols symbols = tables.symbols(type);
    for (std::uint64_t i = 0; i < symbols.count(); ++i) {
      const Elf64_Sym symbol = symbols.at(i);
      if (is_function(symbol) && is_defined(symbol) && address - symbol.st_value < symbol.st_size)
        return std::string(symbols.name(symbol));
    }
  }
  return {};
}

std::string file_name(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::read_symlink(path, error);
  return std::filesystem::path(error ? path : real.string()).filename().string();
}

// True if a call instruction may end here: E8 and four bytes, or FF /2 in two to seven bytes.
bool follows_call(std::uint64_t address) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(address);
  if (code[-5] == 0xe8) return true;
  for (int bytes = 2; bytes <= 7; ++bytes)
    if (code[-bytes] == 0xff && (code[1 - bytes] & 0x38) == 0x10) return true;
  return false;
}

}  // namespace

const HostPlaces::Place& HostPlaces::at(std::uint64_t code) {
  const auto [found, fresh] = places_.try_emplace(code);
  Place& place = found->second;
  if (!fresh) return place;
  const auto object = object_at(code);
  if (!object) {
    place.text = "host code";
    return place;
  }
  const std::string name = file_name(object->path);
  place.own = is_own(object->path);
  place.system = std::ranges::any_of(system_libraries,
                                     [&](std::string_view each) { return name.starts_with(each); });
  const std::string function = function_in(*object, code - object->base);
  place.file = name, place.function = function;
  place.text = function.empty()
                   ? fmt::format("host code at {}+0x{:x}", name, code - object->base)
                   : fmt::format("host code in {} ({})", check::readable(function), name);
  return place;
}

const std::string* HostPlaces::of(const Touch& touch) {
  const Place* place = &at(touch.code);
  for (std::size_t i = 0; place->system && i < touch.stack.size(); ++i) {
    const std::uint64_t address = touch.stack[i];
    const auto object = object_at(address);
    if (!object || !object_at(address - 8) || !follows_call(address)) continue;
    if (const Place& caller = at(address); !caller.system) place = &caller;
  }
  return place->own ? nullptr : &place->text;
}

std::string HostPlaces::caller(std::span<void* const> stack, std::string_view kernel) {
  for (void* const each : stack) {
    const Place& place = at(reinterpret_cast<std::uint64_t>(each) - 1);  // in the call itself
    if (place.own || place.system || place.file.empty()) continue;
    const std::string_view function = place.function;
    const std::string name = check::readable(function);
    const bool of_nvcc = function.find("__device_stub__") != function.npos ||
                         name.starts_with("cudaError cuda") ||  // the headers' templates
                         name.starts_with("__cuda") || (!kernel.empty() && function == kernel);
    if (of_nvcc) continue;
    return name.empty() ? place.file : fmt::format("{} ({})", name, place.file);
  }
  return {};
}

std::string host_caller(std::string_view kernel) {
  std::array<void*, 48> stack{};
  const int depth = backtrace(stack.data(), static_cast<int>(stack.size()));
  static std::mutex& mutex = *new std::mutex;
  static HostPlaces& places = *new HostPlaces;
  const std::lock_guard lock(mutex);
  return places.caller({stack.data(), static_cast<std::size_t>(depth)}, kernel);
}

}  // namespace inflight::cuda::watch
