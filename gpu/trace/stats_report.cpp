// Formats the statistics as a table and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "gpu/check/names.hpp"
#include "gpu/trace/stats.hpp"

namespace inflight::trace {
namespace {

constexpr std::string_view spaces[] = {"global", "shared", "local", "constant", "param"};
static_assert(std::size(spaces) == check::space_count);
constexpr std::string_view copies[] = {"cp.async", "by bulk groups", "by mbarriers"};
static_assert(std::size(copies) == check::completion_count);
constexpr std::string_view barriers[] = {"block", "cluster", "grid"};
static_assert(std::size(barriers) == check::barrier_kind_count);

// Formats 1234567 as "1,234,567".
std::string grouped(std::uint64_t n) {
  const std::string digits = std::to_string(n);
  std::string result;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

// Three digits and a binary unit: "1.25 MiB".
std::string bytes(std::uint64_t n) {
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (n < 1024) return fmt::format("{} B", n);
  double value = static_cast<double>(n) / 1024;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1024;
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

using Out = fmt::memory_buffer;

template <class... Columns>
void row(Out& out, std::string_view name, const Columns&... columns) {
  fmt::format_to(std::back_inserter(out), "  {:<18}", name);
  (fmt::format_to(std::back_inserter(out), "{:>20}", columns), ...);
  out.push_back('\n');
}

void add_instructions(Out& out, const Stats::Kernel& kernel) {
  const Tally::Instructions all = kernel.tally.instructions();
  row(out, "instructions", "by warps", "by threads", "active lanes");
  for (std::size_t i = 0; i < kernel.tally.families.size(); ++i) {
    const Tally::Instructions& f = kernel.tally.families[i];
    if (f.warps == 0) continue;
    row(out, i < kernel.families.size() ? "  " + kernel.families[i] : fmt::format("  family {}", i),
        grouped(f.warps), grouped(f.threads),
        fmt::format("{:.1f}", static_cast<double>(f.threads) / static_cast<double>(f.warps)));
  }
  row(out, "  all", grouped(all.warps), grouped(all.threads),
      fmt::format("{:.1f}", kernel.tally.active_lanes()));
}

void add_memory(Out& out, const Tally& tally) {
  bool head = false;
  for (std::size_t i = 0; i < tally.memory.size(); ++i) {
    const Tally::Memory& m = tally.memory[i];
    if (m.accesses == 0) continue;
    if (!std::exchange(head, true)) row(out, "memory", "loaded", "stored", "atomics");
    row(out, fmt::format("  {}", spaces[i]), bytes(m.loaded), bytes(m.stored), bytes(m.atomic));
  }
}

void add_copies(Out& out, const Tally& tally) {
  bool head = false;
  for (std::size_t i = 0; i < tally.copies.size(); ++i) {
    const Tally::Copies& c = tally.copies[i];
    if (c.copies == 0) continue;
    if (!std::exchange(head, true)) row(out, "copies", "issued", "bytes");
    row(out, fmt::format("  {}", copies[i]), grouped(c.copies), bytes(c.bytes));
  }
}

void add_synchronisation(Out& out, const Tally& tally) {
  for (std::size_t i = 0; i < tally.barriers.size(); ++i)
    if (tally.barriers[i] != 0)
      row(out, fmt::format("{} barriers", barriers[i]), grouped(tally.barriers[i]));
  if (tally.mbarrier_arrivals + tally.mbarrier_phases + tally.mbarrier_waits != 0) {
    row(out, "mbarriers", "arrivals", "phases", "tests");
    row(out, "", grouped(tally.mbarrier_arrivals), grouped(tally.mbarrier_phases),
        grouped(tally.mbarrier_waits));
  }
  row(out, "divergent branches", grouped(tally.divergent_branches));
}

// Formats a share as a percentage. Never shows 100 % if `part` is less than `whole`.
std::string share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (part != whole && percent > 99.9) return "over 99.9 %";
  return fmt::format("{:.1f} %", percent);
}

std::string launches(std::uint64_t count) {
  return fmt::format("{} launch{}", grouped(count), count == 1 ? "" : "es");
}

// What --compile made of the kernel's launches.
void add_engines(Out& out, const Stats::Kernel& kernel) {
  if (kernel.engines.empty()) return;
  const Tally& t = kernel.tally;
  const std::uint64_t all = t.instructions().warps;
  row(out, "host code", grouped(t.in_host_code), share(t.in_host_code, all),
      fmt::format("{} entries", grouped(t.host_code_entries)));
  for (const auto& [why_not, count] : kernel.engines) {
    const check::HostCode& made = kernel.host_code;
    if (why_not.empty())
      fmt::format_to(std::back_inserter(out),
                     "    {} compiled: {} instructions, {} by handlers, {} entries, {}, {} us\n",
                     launches(count), grouped(made.instructions + made.handled),
                     grouped(made.handled), grouped(made.entries), bytes(made.bytes),
                     grouped(made.microseconds));
    else
      fmt::format_to(std::back_inserter(out), "    {} interpreted: {}\n", launches(count), why_not);
  }
}

nlohmann::json engines_json(const Stats::Kernel& kernel) {
  const check::HostCode& made = kernel.host_code;
  nlohmann::json interpreted = nlohmann::json::array();
  std::uint64_t compiled = 0;
  for (const auto& [why_not, count] : kernel.engines)
    if (why_not.empty())
      compiled = count;
    else
      interpreted.push_back({{"why", why_not}, {"launches", count}});
  return {{"launches", compiled},
          {"warp_instructions", kernel.tally.in_host_code},
          {"entered", kernel.tally.host_code_entries},
          {"instructions", made.instructions + made.handled},
          {"handled", made.handled},
          {"entries", made.entries},
          {"bytes", made.bytes},
          {"microseconds", made.microseconds},
          {"interpreted", std::move(interpreted)}};
}

nlohmann::json to_json(const FidelityTally& fidelity) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [key, executed] : fidelity.rows) {
    const auto& [kind, instruction, reason] = key;
    rows.push_back({{"kind", name_of(kind)},
                    {"instruction", instruction},
                    {"reason", reason},
                    {"warps", executed.warps},
                    {"threads", executed.threads}});
  }
  return {{"exact", {{"warps", fidelity.exact.warps}, {"threads", fidelity.exact.threads}}},
          {"others", std::move(rows)}};
}

nlohmann::json to_json(const Stats::Kernel& kernel) {
  const Tally& t = kernel.tally;
  nlohmann::json families = nlohmann::json::object(), memory = families, by_copy = families,
                 by_barrier = families;
  for (std::size_t i = 0; i < t.families.size(); ++i)
    if (t.families[i].warps != 0)
      families[i < kernel.families.size() ? kernel.families[i] : fmt::format("family {}", i)] = {
          {"warps", t.families[i].warps}, {"threads", t.families[i].threads}};
  for (std::size_t i = 0; i < t.memory.size(); ++i)
    memory[std::string(spaces[i])] = {{"accesses", t.memory[i].accesses},
                                      {"loaded", t.memory[i].loaded},
                                      {"stored", t.memory[i].stored},
                                      {"atomic", t.memory[i].atomic}};
  for (std::size_t i = 0; i < t.copies.size(); ++i)
    by_copy[std::string(copies[i])] = {{"copies", t.copies[i].copies},
                                       {"bytes", t.copies[i].bytes}};
  for (std::size_t i = 0; i < t.barriers.size(); ++i)
    by_barrier[std::string(barriers[i])] = t.barriers[i];
  const Tally::Instructions all = t.instructions();
  nlohmann::json result = {{"name", check::demangled(kernel.name)},
                           {"mangled", kernel.name},
                           {"launches", t.launches},
                           {"blocks", t.blocks},
                           {"instructions", families},
                           {"warp_instructions", all.warps},
                           {"thread_instructions", all.threads},
                           {"active_lanes", t.active_lanes()},
                           {"memory", memory},
                           {"copies", by_copy},
                           {"barriers", by_barrier},
                           {"mbarriers",
                            {{"arrivals", t.mbarrier_arrivals},
                             {"phases", t.mbarrier_phases},
                             {"tests", t.mbarrier_waits}}},
                           {"divergent_branches", t.divergent_branches},
                           {"fidelity", to_json(kernel.fidelity)}};
  if (!kernel.engines.empty()) result["host_code"] = engines_json(kernel);
  return result;
}

}  // namespace

std::string Stats::text() const {
  Out out;
  for (const Kernel& kernel : kernels()) {
    const Tally& t = kernel.tally;
    fmt::format_to(std::back_inserter(out), "{}{}: {}, {} block{}\n", out.size() == 0 ? "" : "\n",
                   check::readable(kernel.name), launches(t.launches), grouped(t.blocks),
                   t.blocks == 1 ? "" : "s");
    add_instructions(out, kernel);
    add_memory(out, t);
    add_copies(out, t);
    add_synchronisation(out, t);
    add_engines(out, kernel);
  }
  return fmt::to_string(out);
}

namespace {

void add_fidelity(Out& out, const FidelityTally& fidelity) {
  using Kind = FidelityTally::Kind;
  const FidelityTally::Executed all = fidelity.all();
  row(out, "fidelity", "by warps", "by threads", "");
  for (std::size_t i = 0; i < check::fidelity_kind_count; ++i) {
    const auto kind = static_cast<Kind>(i);
    const FidelityTally::Executed sum = fidelity.of(kind);
    if (sum.warps != 0)
      row(out, fmt::format("  {}", name_of(kind)), grouped(sum.warps), grouped(sum.threads),
          share(sum.threads, all.threads));
    for (const auto& [key, executed] : fidelity.rows) {
      const auto& [each, instruction, reason] = key;
      if (each != kind || (executed.warps == 0 && kind != Kind::unsupported)) continue;
      fmt::format_to(std::back_inserter(out), "      {}: {}{}\n", instruction, reason,
                     executed.warps == 0 ? ", not reached" : "");
    }
  }
}

}  // namespace

std::string Stats::fidelity_text() const {
  Out out;
  for (const Kernel& kernel : kernels()) {
    fmt::format_to(std::back_inserter(out), "{}{}\n", out.size() == 0 ? "" : "\n",
                   check::readable(kernel.name));
    add_fidelity(out, kernel.fidelity);
  }
  return fmt::to_string(out);
}

nlohmann::json Stats::json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const Kernel& kernel : kernels()) list.push_back(to_json(kernel));
  return {{"kernels", std::move(list)}};
}

}  // namespace inflight::trace
