// Checks PTX before it is linked. Errors are worded like those of ptxas and nvlink.
#include "gpu/cuda/image/link_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "gpu/cuda/image/device_runtime.hpp"
#include "gpu/machine/builtins/names.hpp"
#include "gpu/ptx/parse.hpp"

namespace inflight::cuda {
namespace {

using Name = std::string_view;

tl::expected<ptx::Module, std::string> parse(const NamedText& text) {
  auto module = ptx::parse(std::make_shared<const std::string>(text.text), text.name);
  if (module) return std::move(*module);
  return tl::unexpected(fmt::format(
      "ptxas {}, line {}; error   : {}\nptxas fatal   : Ptx assembly aborted due to errors",
      text.name, module.error().line, module.error().message));
}

bool is_definition(const ptx::Function& function) {
  return (function.has_body || function.alias_of != ptx::none) &&
         function.linkage != ptx::Linkage::local;
}

// The functions that a body calls or takes the address of.
template <class Visit>
void for_each_use(const ptx::Module& module, const ptx::Function& function, Visit visit) {
  for (const ptx::Operand& operand : function.pool) {
    if (operand.kind == ptx::Operand::Kind::function) visit(module.functions[operand.index]);
  }
}

class Definitions {
 public:
  // Returns the name of the text that already defined the function, or an empty one.
  std::string add(const ptx::Function& function, const std::string& text) {
    const auto [at, is_new] = by_name_.emplace(function.name, text);
    const bool weak = function.linkage == ptx::Linkage::weak;
    return is_new || weak ? std::string() : at->second;
  }
  bool has(Name name) const { return by_name_.count(name) != 0; }

 private:
  std::map<Name, std::string> by_name_;
};

}  // namespace

tl::expected<void, std::string> check_text(const NamedText& text) {
  auto module = parse(text);
  if (!module) return tl::unexpected(module.error());
  return {};
}

tl::expected<void, std::string> check_link(const std::vector<NamedText>& texts, bool open) {
  std::vector<ptx::Module> modules;
  Definitions definitions;
  std::string errors;
  for (const NamedText& text : texts) {
    auto module = parse(text);
    if (!module) return tl::unexpected(module.error());
    modules.push_back(std::move(*module));
  }
  for (std::size_t i = 0; i < modules.size(); ++i) {
    for (const ptx::Function& function : modules[i].functions) {
      if (!is_definition(function)) continue;
      if (std::string first = definitions.add(function, texts[i].name); !first.empty())
        errors +=
            fmt::format("error   : Multiple definition of '{}' in '{}', first defined in '{}'\n",
                        function.name, texts[i].name, first);
    }
  }
  for (std::size_t i = 0; i < modules.size() && !open; ++i) {
    std::set<Name> reported;
    for (const ptx::Function& function : modules[i].functions) {
      for_each_use(modules[i], function, [&](const ptx::Function& used) {
        if (used.has_body || used.alias_of != ptx::none || definitions.has(used.name) ||
            machine::supplies(used.name) || is_supplied(used.name) ||
            !reported.insert(used.name).second)
          return;
        errors += fmt::format("error   : Undefined reference to '{}' in '{}'\n", used.name,
                              texts[i].name);
      });
    }
  }
  if (errors.empty()) return {};
  errors.pop_back();
  return tl::unexpected(std::move(errors));
}

}  // namespace inflight::cuda
