// Reads the files and compares their kernels' parameters.
#include "gpu/cuda/core/modules/replacement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/host/input_file.hpp"
#include "gpu/ptx/parse.hpp"

namespace inflight::cuda {
namespace {

using Parsed = std::shared_ptr<const ptx::Module>;

constexpr std::uint64_t largest_file = 1 << 28;

const ptx::Function* entry_of(const ptx::Module& module, std::string_view name) {
  const auto found = std::ranges::find_if(
      module.functions, [&](const ptx::Function& each) { return each.entry && each.name == name; });
  return found == module.functions.end() ? nullptr : &*found;
}

bool same_parameters(const ptx::Module& a, const ptx::Function& f, const ptx::Module& b,
                     const ptx::Function& g) {
  return std::ranges::equal(f.parameters, g.parameters, [&](std::uint32_t i, std::uint32_t j) {
    return a.variables[i].size == b.variables[j].size &&
           a.variables[i].alignment == b.variables[j].alignment;
  });
}

tl::unexpected<Failure> refuse(const Replacement& from, const std::string& why) {
  return fail(Status::invalid_ptx,
              fmt::format("kernel {} cannot be replaced (--ptx): {}", from.kernel, why));
}

Result<Parsed> parse(const Replacement& from) {
  auto text = host::read_file(from.file, largest_file);
  if (!text) return refuse(from, fmt::format("{} {}", from.file, text.error()));
  auto parsed = ptx::parse(std::make_shared<const std::string>(std::move(*text)), from.file);
  if (!parsed)
    return refuse(from, fmt::format("{}, line {}: {}", from.file, parsed.error().line,
                                    parsed.error().message));
  std::fprintf(stderr, "inflight: kernel %s is run as %s has it.\n", from.kernel.c_str(),
               from.file.c_str());
  return std::make_shared<const ptx::Module>(std::move(*parsed));
}

// The parsed file of each of the settings' replacements that was used.
Result<Parsed> file_of(std::size_t number) {
  static auto& mutex = *new std::mutex;
  static auto& parsed = *new std::vector<Parsed>(settings().replacements.size());
  const std::lock_guard lock(mutex);
  if (parsed[number]) return parsed[number];
  auto made = parse(settings().replacements[number]);
  if (made) parsed[number] = *made;
  return made;
}

}  // namespace

Result<Parsed> with_replacements(Parsed module) {
  const std::vector<Replacement>& all = settings().replacements;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ptx::Function* const own = entry_of(*module, all[i].kernel);
    if (!own) continue;
    auto edited = file_of(i);
    if (!edited) return edited;
    const ptx::Function* const other = entry_of(**edited, all[i].kernel);
    if (!other) return refuse(all[i], fmt::format("{} has no such kernel", all[i].file));
    if (!same_parameters(*module, *own, **edited, *other))
      return refuse(
          all[i], fmt::format("its parameters in {} are not those of the program's", all[i].file));
    return edited;
  }
  return module;
}

}  // namespace inflight::cuda
