// A small reader of ELF: sections by name and the dynamic section.
#include "cli/program_file.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>

namespace inflight::cli {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path, std::ios::binary) {
    file_.seekg(0, std::ios::end);
    size_ = file_ ? std::uint64_t(file_.tellg()) : 0;
  }

  // The bytes [offset, offset + size), or an empty text where the file does not have them all.
  std::string bytes(std::uint64_t offset, std::uint64_t size) {
    if (offset > size_ || size > size_ - offset) return {};
    std::string result(size, '\0');
    file_.clear();
    file_.seekg(std::streamoff(offset));
    file_.read(result.data(), std::streamsize(size));
    return file_ ? result : std::string();
  }

  template <class T>
  T at(std::uint64_t offset) {
    T result{};
    std::string data = bytes(offset, sizeof(T));
    if (data.size() == sizeof(T)) std::memcpy(&result, data.data(), sizeof(T));
    return result;
  }

 private:
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

std::string_view text_at(const std::string& strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  std::string_view rest = std::string_view(strings).substr(offset);
  return rest.substr(0, rest.find('\0'));
}

void read_dynamic(Reader& reader, const Elf64_Shdr& section, const Elf64_Shdr& names,
                  ProgramFile& result) {
  std::string strings = reader.bytes(names.sh_offset, names.sh_size);
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size; at += sizeof(Elf64_Dyn)) {
    auto entry = reader.at<Elf64_Dyn>(section.sh_offset + at);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) result.needed.emplace_back(text_at(strings, entry.d_un.d_val));
    if (entry.d_tag == DT_RPATH) result.rpath = text_at(strings, entry.d_un.d_val);
  }
}

bool starts_with(const std::vector<std::string>& names, std::string_view prefix) {
  for (const std::string& name : names) {
    if (std::string_view(name).starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

ProgramFile read_program_file(const std::string& path) {
  Reader reader(path);
  ProgramFile result;
  auto header = reader.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return {};
  result.elf = true;
  result.executable = header.e_type == ET_EXEC || header.e_type == ET_DYN;
  auto section = [&](std::uint64_t i) {
    return reader.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  Elf64_Shdr names = section(header.e_shstrndx);
  std::string strings = reader.bytes(names.sh_offset, names.sh_size);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr each = section(i);
    if (text_at(strings, each.sh_name) == ".nv_fatbin") result.device_code = true;
    if (each.sh_type == SHT_DYNAMIC) read_dynamic(reader, each, section(each.sh_link), result);
  }
  return result;
}

std::string out_of_reach(const ProgramFile& program) {
  if (!program.executable) return {};
  if (program.device_code && !starts_with(program.needed, "libcudart.so")) {
    return "the program is linked with the static CUDA runtime, which the software GPU cannot "
           "stand "
           "in for: build it with NVCC_APPEND_FLAGS=\"-cudart shared\" in the environment "
           "('inflight env' prints that), or with CMAKE_CUDA_RUNTIME_LIBRARY=Shared.";
  }
  for (const std::string& name : program.needed) {
    if (name.starts_with("libcudart.so.") && name != "libcudart.so.13") {
      return "the program was built against " + name +
             "; the software GPU stands in for libcudart.so.13: build it with CUDA 13.";
    }
  }
  return {};
}

}  // namespace inflight::cli
