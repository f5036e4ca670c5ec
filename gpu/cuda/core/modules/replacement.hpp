// PTX files that people have edited, in place of a program's own (`--ptx KERNEL=FILE`).
#pragma once
#include <memory>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::cuda {

// The module to use for `module`: itself, or the one of a file that the settings name for one of
// its kernels (invalid_ptx: the file cannot be read or parsed, or has no such kernel with these
// parameters). Standard error gets a line for each file, when it is first used.
Result<std::shared_ptr<const ptx::Module>> with_replacements(
    std::shared_ptr<const ptx::Module> module);

}  // namespace inflight::cuda
