// What of an ELF program decides whether the software GPU is reached.
#include "cli/program_file.hpp"

#include <elf.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "gpu/cuda/image/elf.hpp"
#include "gpu/cuda/image/elf_tables.hpp"

namespace inflight::cli {
namespace {

using cuda::field;

void read_dynamic(cuda::Source& file, const cuda::ElfSection& section,
                  const cuda::ElfSection& names, ProgramFile& result) {
  const auto entries = file.take(section.offset, section.size);
  const auto strings = file.take(names.offset, names.size);
  if (!entries || !strings) return;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= entries->size(); at += sizeof(Elf64_Dyn)) {
    const auto entry = field<Elf64_Dyn>(*entries, at);
    if (entry.d_tag == DT_NULL) break;
    const std::uint64_t name = entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED) result.needed.emplace_back(cuda::text_at(*strings, name));
  }
}

}  // namespace

ProgramFile read_program_file(const std::string& path) {
  auto file = cuda::File::open(path);
  const auto elf = file ? cuda::read_elf_file(*file) : tl::unexpected(file.error());
  ProgramFile result;
  if (!elf) return result;
  result.executable = elf->type == ET_EXEC || elf->type == ET_DYN;
  for (const cuda::ElfSection& each : elf->sections) {
    if (each.name == ".nv_fatbin") result.device_code = true;
    if (each.name == ".interp") result.loader = true;
    if (each.type == SHT_DYNAMIC && each.link < elf->sections.size())
      read_dynamic(*file, each, elf->sections[each.link], result);
  }
  return result;
}

std::string out_of_reach(const ProgramFile& program, const std::string& libraries) {
  if (!program.executable) return {};
  if (program.device_code && !program.loader) {
    return "the program is linked statically, also with the C library, so that no dynamic loader can "
           "send its CUDA calls to the software GPU: link it without -static.";
  }
  for (const std::string& name : program.needed) {
    std::error_code error;
    if (name.starts_with("libcudart.so.") &&
        !std::filesystem::exists(std::filesystem::path(libraries) / name, error)) {
      return "the program was built against " + name +
             "; the software GPU stands in for libcudart.so.12 and libcudart.so.13: build it with "
             "CUDA 12 or 13.";
    }
  }
  return {};
}

}  // namespace inflight::cli
