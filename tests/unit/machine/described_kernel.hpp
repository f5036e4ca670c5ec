// Parses and describes a kernel written in PTX.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "gpu/machine/instruction/function.hpp"
#include "gpu/ptx/parse.hpp"

namespace inflight::machine {

// The last function of a module. Text that cannot be parsed fails the test, and leaves both null.
struct DescribedKernel {
  std::unique_ptr<const ptx::Module> module;
  std::unique_ptr<const Function> function;

  // `text` follows the module's directives.
  explicit DescribedKernel(const std::string& text, const std::string& target = "sm_90a") {
    auto parsed = ptx::parse(std::make_shared<const std::string>(".version 8.7\n.target " + target +
                                                                 "\n.address_size 64\n" + text),
                             "test");
    if (!parsed) {
      ADD_FAILURE() << parsed.error().message << " in line " << parsed.error().line << " of\n"
                    << text;
      return;
    }
    module = std::make_unique<const ptx::Module>(std::move(*parsed));
    function = describe(*module, module->functions.back());
  }
};

}  // namespace inflight::machine
