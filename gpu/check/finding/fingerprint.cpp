// Computes a fingerprint from the parts of a finding that are the same in every run.
#include <fmt/format.h>

#include <filesystem>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {
namespace {

class Hash {  // FNV-1a
 public:
  void add(std::string_view text) {
    for (const char c : text) take(static_cast<unsigned char>(c));
    take(0xff);
  }
  void add(const CodePlace& p) {
    add(p.kernel), add(p.function), add(p.instruction);
    add(p.file, p.file.empty() ? p.ptx_line : p.line);
    const std::vector<CodeLine> calls = distinct_calls(p);
    for (const CodeLine& each : calls) add(each.file, each.line);
    for (const CodeLine& each : calls) add(std::to_string(each.line));
  }
  std::string digits() const { return fmt::format("{:016x}", value_); }

 private:
  void add(const std::string& file, std::uint32_t line) {
    add(std::filesystem::path(file).filename().string());
    add(std::to_string(line));
  }
  void take(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ull; }
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

}  // namespace

std::string fingerprint(const Finding& f) {
  Hash hash;
  hash.add(facts_of(f.kind).id);
  hash.add(f.here.place);
  for (const Party& p : f.there) hash.add(p.place);
  return hash.digits();
}

}  // namespace inflight::check
