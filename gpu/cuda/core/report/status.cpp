// Names and texts of status codes, and reports on standard error.
#include "gpu/cuda/core/report/status.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <set>

#include "gpu/check/printable.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/cuda/core/report/logs.hpp"

namespace inflight::cuda {
namespace {

struct Row {
  int code;
  std::string_view runtime, driver, text;
};
constexpr Row rows[] = {
#define X(code, runtime, driver, text) {code, runtime, driver, text},
#include "gpu/cuda/core/report/status.def"
#undef X
};
static_assert(std::is_sorted(std::begin(rows), std::end(rows),
                             [](const Row& a, const Row& b) { return a.code < b.code; }));

const Row* row_of(int code) {
  auto it = std::lower_bound(std::begin(rows), std::end(rows), code,
                             [](const Row& row, int c) { return row.code < c; });
  return it != std::end(rows) && it->code == code ? &*it : nullptr;
}

}  // namespace

std::string_view runtime_error_name(int code) {
  const Row* row = row_of(code);
  return row ? row->runtime : std::string_view{};
}

std::string_view runtime_error_text(int code) {
  const Row* row = row_of(code);
  return row && !row->runtime.empty() ? row->text : std::string_view{};
}

std::string_view driver_error_name(int code) {
  const Row* row = row_of(code);
  return row ? row->driver : std::string_view{};
}

std::string_view driver_error_text(int code) {
  const Row* row = row_of(code);
  return row && !row->driver.empty() ? row->text : std::string_view{};
}

void write_log(std::string_view sentence) {
  if (!sentence.empty()) Logs::get().add(Level::error, check::printable_message(sentence));
}

void report(std::string_view sentence) {
  if (Call::keep(sentence)) return;
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
    if (!said.emplace(key).second) return Call::because(sentence);
  }
  report(sentence);
}

Status report(const Failure& failure) {
  if (!failure.message.empty()) report(failure.message);
  return failure.status;
}

}  // namespace inflight::cuda
