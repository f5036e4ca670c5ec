// Reads CTEST_RESOURCE_GROUP_COUNT and CTEST_RESOURCE_GROUP_<n>_GPUS: "id:0,slots:1;id:2,slots:3".
#include "gpu/cuda/core/base/ctest.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace inflight::cuda {
namespace {

unsigned number(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

unsigned slots_of(std::string_view allocation) {
  constexpr std::string_view word = "slots:";
  unsigned sum = 0;
  for (auto at = allocation.find(word); at != allocation.npos; at = allocation.find(word, at + 1))
    sum += number(allocation.substr(at + word.size()));
  return sum;
}

}  // namespace

std::optional<unsigned> ctest_slots(const std::function<const char*(const char*)>& variable) {
  const char* const groups = variable("CTEST_RESOURCE_GROUP_COUNT");
  unsigned sum = 0;
  for (unsigned i = 0; groups && i < number(groups); ++i) {
    const std::string name = "CTEST_RESOURCE_GROUP_" + std::to_string(i) + "_GPUS";
    if (const char* allocation = variable(name.c_str())) sum += slots_of(allocation);
  }
  return sum ? std::optional(sum) : std::nullopt;
}

}  // namespace inflight::cuda
