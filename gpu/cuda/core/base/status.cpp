// Names and texts of status codes, and reports on standard error.
#include "gpu/cuda/core/base/status.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <set>

#include "gpu/check/printable.hpp"
#include "gpu/cuda/core/base/call_facts.hpp"
#include "gpu/cuda/core/base/logs.hpp"

namespace inflight::cuda {
namespace {

struct Names {
  int code;
  std::string_view runtime, driver, text;
};
constexpr Names all_names[] = {
#define X(code, runtime, driver, text) {code, runtime, driver, text},
#include "gpu/cuda/core/base/status.def"
#undef X
};
static_assert(std::is_sorted(std::begin(all_names), std::end(all_names),
                             [](const Names& a, const Names& b) { return a.code < b.code; }));

const Names* names_of(int code) {
  auto it = std::lower_bound(std::begin(all_names), std::end(all_names), code,
                             [](const Names& names, int c) { return names.code < c; });
  return it != std::end(all_names) && it->code == code ? &*it : nullptr;
}

}  // namespace

std::string_view runtime_error_name(int code) {
  const Names* names = names_of(code);
  return names ? names->runtime : std::string_view{};
}

std::string_view runtime_error_text(int code) {
  const Names* names = names_of(code);
  return names && !names->runtime.empty() ? names->text : std::string_view{};
}

std::string_view driver_error_name(int code) {
  const Names* names = names_of(code);
  return names ? names->driver : std::string_view{};
}

std::string_view driver_error_text(int code) {
  const Names* names = names_of(code);
  return names && !names->driver.empty() ? names->text : std::string_view{};
}

void write_log(std::string_view sentence) {
  if (!sentence.empty()) Logs::get().add(Level::error, check::printable_message(sentence));
}

void report(std::string_view sentence) {
  if (CallFacts::keep(sentence)) return;
  write_log(sentence);
  std::string line = "inflight: " + check::printable_message(sentence);
  if (line.back() != '\n') line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void report_once(std::string_view key, std::string_view sentence) {
  static std::mutex& mutex = *new std::mutex;
  static auto& said = *new std::set<std::string, std::less<>>;
  {
    std::lock_guard lock(mutex);
    if (!said.emplace(key).second) return CallFacts::because(sentence);
  }
  report(sentence);
}

Status report(const Failure& failure) {
  if (!failure.message.empty()) report(failure.message);
  return failure.status;
}

}  // namespace inflight::cuda
