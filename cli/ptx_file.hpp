// A file's device code as `inflight ptx` shows it: its images, what a device takes of them, parsed.
#pragma once
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/image/fatbin.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::cli {

// One PTX text that the device runs.
struct Unit {
  std::string source;  // the source file's name, or empty
  cuda::Architecture architecture;
  std::shared_ptr<const std::string> text;
};

struct PtxFile {
  std::shared_ptr<const std::string> text;        // what `images` point into
  std::vector<std::vector<cuda::Image>> fatbins;  // empty for PTX text
  std::vector<Unit> units;                        // one a fatbin at most
  std::vector<std::string> passed_over;           // why a fatbin has no unit: sentences
};

// Reads a PTX text, fatbin, host program, shared object or object file. An error is a sentence.
tl::expected<PtxFile, std::string> read_ptx_file(const std::string& path,
                                                 cuda::Architecture device);

}  // namespace inflight::cli
