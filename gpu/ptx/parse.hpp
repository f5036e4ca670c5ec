// Parses PTX text into a Module.
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

// Parses one PTX text (ISA 1.4 to 9.0). No input makes it throw. An instruction whose opcode,
// modifiers or operands are not known to be valid stays in the body as Opcode::unknown with its
// full name, and Function::refusals gives the reason. Only the kernels that need it are then
// refused. Returns an Error if the text cannot be parsed.
tl::expected<Module, Error> parse(std::shared_ptr<const std::string> text, std::string name);

}  // namespace inflight::ptx
