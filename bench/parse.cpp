// Measures the PTX parser: parse FILE... prints each file's size, contents, and parsing rate in
// MB/s.
#include "gpu/ptx/parse.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <set>

namespace {

using namespace inflight;

struct Totals {
  std::size_t instructions = 0, refused = 0;
};

Totals totals(const ptx::Module& m) {
  Totals t;
  for (const ptx::Function& f : m.functions)
    t.instructions += f.body.size(), t.refused += f.refusals.size();
  return t;
}

void show_refusals(const ptx::Module& m) {
  std::set<std::string> shown;
  for (const ptx::Function& f : m.functions)
    for (const ptx::Refusal& r : f.refusals)
      if (shown.insert(r.reason).second)
        fmt::print("  line {}: {}\n", f.body[r.instruction].line, r.reason);
}

bool measure(const char* path) {
  std::ifstream in(path, std::ios::binary);
  auto text = std::make_shared<const std::string>(std::istreambuf_iterator<char>(in),
                                                  std::istreambuf_iterator<char>());
  double best = 1e300;
  tl::expected<ptx::Module, ptx::Error> result;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    result = ptx::parse(text, path);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  if (!result) {
    const ptx::Error& e = result.error();
    fmt::print("{}:{}:{}: {}\n", path, e.line, e.column, e.message);
    return false;
  }
  const Totals t = totals(*result);
  fmt::print(
      "{}: {:.2f} MB, {} functions, {} variables, {} instructions ({} refused), {:.1f} MB/s\n",
      path, double(text->size()) / 1e6, result->functions.size(), result->variables.size(),
      t.instructions, t.refused, double(text->size()) / 1e6 / best);
  show_refusals(*result);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bool good = argc > 1;
  for (int i = 1; i < argc; ++i) good &= measure(argv[i]);
  return good ? 0 : 1;
}
