// What an ELF program says of itself before it runs.
#pragma once
#include <string>
#include <vector>

namespace inflight::cli {

struct ProgramFile {
  bool elf = false;
  bool executable = false;          // an ELF program or shared object, no .o file and no cubin
  bool device_code = false;         // has a section .nv_fatbin
  std::vector<std::string> needed;  // DT_NEEDED
  std::string rpath;                // DT_RPATH, which is searched before LD_LIBRARY_PATH
};

// Reads what it can; a file that is no 64-bit ELF file, or a damaged one, gives {}.
ProgramFile read_program_file(const std::string& path);

// Why the software GPU would not be reached by this program, as a sentence; empty if it would be.
std::string out_of_reach(const ProgramFile& program);

}  // namespace inflight::cli
