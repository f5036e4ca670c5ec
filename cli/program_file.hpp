// The facts that an ELF program's file states before the program runs.
#pragma once
#include <string>
#include <vector>

namespace inflight::cli {

struct ProgramFile {
  bool executable = false;          // an ELF program, no .o file and no cubin
  bool device_code = false;         // has a section .nv_fatbin
  bool loader = false;              // a dynamic loader starts it
  bool raised = false;              // runs with rights that its caller lacks
  std::vector<std::string> needed;  // DT_NEEDED
};

// Reads what it can. Files that are not 64-bit ELF, and damaged ones, give {}.
ProgramFile read_program_file(const std::string& path);

// Returns a sentence why this program would not reach the software GPU. Empty if it would, or if
// the loader's audit module reports it (gpu/loader).
std::string out_of_reach(const ProgramFile& program);

}  // namespace inflight::cli
