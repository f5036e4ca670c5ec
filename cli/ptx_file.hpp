// The device code of a file for `inflight ptx`: its images, and the PTX that a device takes,
// parsed.
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
  std::shared_ptr<const std::string> text;        // the bytes that `images` refer to
  std::vector<std::vector<cuda::Image>> fatbins;  // empty for PTX text
  std::vector<Unit> units;                        // at most one per fatbin
  std::vector<std::string> passed_over;           // sentences: why a fatbin has no unit
};

// Reads a PTX text, fatbin, host program, shared object or object file. An error is a sentence.
tl::expected<PtxFile, std::string> read_ptx_file(const std::string& path,
                                                 cuda::Architecture device);

}  // namespace inflight::cli
