// The type and the sections of an ELF file.
#pragma once
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/image/source.hpp"

namespace inflight::cuda {

struct ElfSection {
  std::string name;
  std::uint32_t type = 0, link = 0;  // sh_type, sh_link
  std::uint64_t offset = 0, size = 0;
};

struct ElfFile {
  std::uint16_t type = 0, machine = 0;  // e_type, e_machine
  std::vector<ElfSection> sections;     // a section without bytes in the file has size 0
};

// Reads a 64-bit little-endian ELF file. An error is a sentence without a full stop.
tl::expected<ElfFile, std::string> read_elf_file(Source&);

}  // namespace inflight::cuda
