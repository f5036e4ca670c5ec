// PTX text → Module.
#pragma once
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "gpu/ptx/module.hpp"

namespace inflight::ptx {

struct Error {
  std::string message;                 // one sentence
  std::uint32_t line = 0, column = 0;  // in the text, from 1
};

// Parses one PTX text (ISA 1.0 to 9.0; what this knows). Never throws on any input. An instruction
// whose opcode, modifiers or operands are not known to be right stays in the body as
// Opcode::unknown with its full name, and Function::refusals says why, so that only the kernels
// that need it are refused. A text that cannot be read is an Error.
tl::expected<Module, Error> parse(std::shared_ptr<const std::string> text, std::string name);

}  // namespace inflight::ptx
