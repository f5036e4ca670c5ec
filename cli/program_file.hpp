// What an ELF program says of itself before it runs.
#pragma once
#include <string>
#include <vector>

namespace inflight::cli {

struct ProgramFile {
  bool executable = false;          // an ELF program, no .o file and no cubin
  bool device_code = false;         // has a section .nv_fatbin
  bool loader = false;              // is started by a dynamic loader
  bool raised = false;              // has rights that who starts it lacks
  std::vector<std::string> needed;  // DT_NEEDED
};

// Reads what it can; a file that is no 64-bit ELF file, or a damaged one, gives {}.
ProgramFile read_program_file(const std::string& path);

// Why the software GPU would not be reached by this program, as a sentence; empty if it would be,
// or if the loader's audit module says it (gpu/loader).
std::string out_of_reach(const ProgramFile& program);

}  // namespace inflight::cli
