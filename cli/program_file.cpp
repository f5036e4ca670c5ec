// Reads the parts of an ELF program that decide whether it reaches the software GPU.
#include "cli/program_file.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdint>

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

// True if the kernel starts the file with other rights than ours. Its loader then ignores the
// environment (AT_SECURE).
bool raises_rights(const char* path) {
  struct stat status;
  struct statvfs mount;
  if (stat(path, &status) != 0 || statvfs(path, &mount) != 0 || mount.f_flag & ST_NOSUID)
    return false;
  const bool user = status.st_mode & S_ISUID && status.st_uid != getuid();
  const bool group =
      status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getgid();
  const bool capabilities = getuid() != 0 && getxattr(path, "security.capability", nullptr, 0) > 0;
  return user || group || capabilities;
}

}  // namespace

ProgramFile read_program_file(const std::string& path) {
  auto file = cuda::File::open(path);
  const auto elf = file ? cuda::read_elf_file(*file) : tl::unexpected(file.error());
  ProgramFile result;
  if (!elf) return result;
  result.executable = elf->type == ET_EXEC || elf->type == ET_DYN;
  result.raised = raises_rights(path.c_str());
  for (const cuda::ElfSection& each : elf->sections) {
    if (each.name == ".nv_fatbin") result.device_code = true;
    if (each.name == ".interp") result.loader = true;
    if (each.type == SHT_DYNAMIC && each.link < elf->sections.size())
      read_dynamic(*file, each, elf->sections[each.link], result);
  }
  return result;
}

std::string out_of_reach(const ProgramFile& program) {
  if (!program.executable) return {};
  if (program.device_code && !program.loader) {
    return "the program is linked statically, also with the C library, so no dynamic loader can "
           "redirect its CUDA calls to the software GPU: link it without -static.";
  }
  if (program.raised) {
    return "the program is set-user-ID, set-group-ID or has capabilities of its own, so the "
           "dynamic "
           "loader ignores the environment, and neither it nor its children reach the software "
           "GPU: have it start 'inflight run PROGRAM' (as in 'sudo inflight run PROGRAM'), "
           "or run a copy without these rights.";
  }
  for (const std::string& name : program.needed) {
    if (name.starts_with("libcudart.so.") && name != "libcudart.so.12" &&
        name != "libcudart.so.13") {
      return "the program was built against " + name +
             "; the software GPU replaces libcudart.so.12 and libcudart.so.13 only: build it with "
             "CUDA 12 or 13.";
    }
  }
  return {};
}

}  // namespace inflight::cli
