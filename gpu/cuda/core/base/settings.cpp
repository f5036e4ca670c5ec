// Reads the INFLIGHT_ variables.
#include "gpu/cuda/core/base/settings.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "gpu/check/report/report.hpp"
#include "gpu/cuda/core/base/ctest.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/host/instruction_set.hpp"

namespace inflight::cuda {
namespace {

template <class T>
bool read_number(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// A reader returns null if it accepts the value, else a description of the values that it accepts.
using Reader = const char* (*)(std::string_view text, Settings& settings);

const char* read_device(std::string_view text, Settings& settings) {
  if (text.empty()) return "the name of a device profile, such as h200";
  settings.device = text;
  return nullptr;
}

const char* read_devices(std::string_view text, Settings& settings) {
  if (read_number(text, settings.devices) && settings.devices >= 1 && settings.devices <= 64)
    return nullptr;
  return "a number of devices from 1 to 64";
}

const char* read_timing(std::string_view text, Settings& settings) {
  const auto timing = async::parse_timing(text);
  if (!timing) return "early, late or shuffled:SEED with a number for SEED";
  settings.timing = *timing;
  return nullptr;
}

const char* read_turns(std::string_view text, Settings& settings) {
  constexpr std::string_view random = "random:";
  using Kind = machine::Turns::Kind;
  machine::Turns& turns = settings.turns;
  turns.kind = text.starts_with(random) ? Kind::random : Kind::fixed;
  const bool good = turns.kind == Kind::random
                        ? read_number(text.substr(random.size()), turns.seed)
                        : read_number(text, turns.instructions) && turns.instructions != 0;
  return good ? nullptr : "a number of instructions from 1, or random:SEED with a number for SEED";
}

const char* read_compile(std::string_view text, Settings& settings) {
  using machine::Compile;
  constexpr std::pair<std::string_view, Compile> all[] = {{"always", Compile::always},
                                                          {"auto", Compile::automatic},
                                                          {"never", Compile::never},
                                                          {"verify", Compile::verify}};
  const auto it = std::ranges::find(all, text, &std::pair<std::string_view, Compile>::first);
  if (it == std::end(all)) return "always, auto, never or verify";
  settings.compile = it->second;
  return nullptr;
}

const char* read_timeout(std::string_view text, Settings& settings) {
  double seconds = 0;
  if (!read_number(text, seconds) || !(seconds >= 0) || seconds > 1e9)
    return "a number of seconds, 0 for no limit";
  settings.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  return nullptr;
}

const char* read_stats(std::string_view text, Settings& settings) {
  if (text == "0" || text == "1") {
    settings.stats = text == "1";
    return nullptr;
  }
  if (!text.ends_with(".json")) return "0, 1 or a file's path that ends in .json";
  settings.stats = true;
  settings.stats_file = text;
  return nullptr;
}

template <std::string Settings::*path>
const char* read_path(std::string_view text, Settings& settings) {
  settings.*path = text;
  return nullptr;
}

// Programs run with a driver as new as their CUDA version or newer. The lowest is 13.0, which
// libcudart.so.13 needs.
const char* read_driver(std::string_view text, Settings& settings) {
  constexpr const char* allowed = "a version of CUDA from 13.0 to 13.99, such as 13.4";
  int minor = 0;
  if (!text.starts_with("13.") || !read_number(text.substr(3), minor) || minor < 0 || minor > 99)
    return allowed;
  settings.driver_version = 13000 + 10 * minor;
  settings.newest_ptx = 90 + minor;
  return nullptr;
}

const char* read_slack(std::string_view text, Settings& settings) {
  constexpr std::uint64_t page = 2 << 20;
  const bool number = read_number(text, settings.slack);
  if (number && std::has_single_bit(settings.slack) && settings.slack <= page) return nullptr;
  return "a power of two up to 2097152, a GPU's page";
}

const char* read_memory(std::string_view text, Settings& settings) {
  constexpr const char* allowed =
      "a number of bytes, with K, M, G or T after it for powers of 1024";
  constexpr std::string_view units = "KMGT";
  const auto unit = text.empty() ? text.npos : units.find(text.back());
  const unsigned shift = unit == text.npos ? 0 : 10 * (static_cast<unsigned>(unit) + 1);
  if (shift) text.remove_suffix(1);
  std::uint64_t count = 0;
  if (!read_number(text, count) || count == 0 || count > (~std::uint64_t{0} >> shift))
    return allowed;
  settings.memory = count << shift;
  return nullptr;
}

const char* read_replacements(std::string_view text, Settings& settings) {
  for (const std::string& each : check::paths_in(text)) {
    const auto equals = each.find('=');
    if (equals == each.npos || equals == 0 || equals + 1 == each.size())
      return "KERNEL=FILE, with the kernel's name in PTX";
    // A program may change its working folder before it loads the module.
    std::error_code error;
    const auto file = std::filesystem::absolute(each.substr(equals + 1), error);
    settings.replacements.push_back({each.substr(0, equals), file.string()});
  }
  return nullptr;
}

// The machine reads the variable itself, for it has no settings.
const char* read_instruction_set(std::string_view text, Settings&) {
  if (host::usable_instruction_set(text)) return nullptr;
  static const std::string allowed = host::usable_instruction_sets() +
                                     ": this build contains and this processor supports no other";
  return allowed.c_str();
}

constexpr unsigned most_workers = 1024;

const char* read_workers(std::string_view text, Settings& settings) {
  if (read_number(text, settings.workers) && settings.workers <= most_workers) return nullptr;
  return "a number of threads up to 1024, 0 for one per core";
}

template <bool Settings::*flag>
const char* read_flag(std::string_view text, Settings& settings) {
  settings.*flag = text == "1";
  return text == "0" || text == "1" ? nullptr : "0 or 1";
}

template <bool CheckSettings::*flag>
const char* read_flag(std::string_view text, Settings& settings) {
  settings.check.*flag = text == "1";
  return text == "0" || text == "1" ? nullptr : "0 or 1";
}

template <std::string CheckSettings::*path>
const char* read_path(std::string_view text, Settings& settings) {
  settings.check.*path = text;
  return nullptr;
}

const char* read_suppressions(std::string_view text, Settings& settings) {
  settings.check.suppressions = check::paths_in(text);
  return nullptr;
}

const char* read_report(std::string_view text, Settings& settings) {
  settings.check.reports = check::paths_in(text);
  for (const std::string& each : settings.check.reports)
    if (!check::is_report(each)) return "files whose paths end in .json, .sarif or .html";
  return nullptr;
}

const char* read_error_exitcode(std::string_view text, Settings& settings) {
  int& status = settings.check.error_exitcode;
  return read_number(text, status) && status >= 0 && status <= 255 ? nullptr
                                                                   : "a status from 0 to 255";
}

const char* read_seeds(std::string_view text, Settings& settings) {
  unsigned& seeds = settings.check.seeds;
  return read_number(text, seeds) && seeds >= 1 && seeds <= 10000 ? nullptr
                                                                  : "a number of runs up to 10000";
}

struct Variable {
  const char* name;
  Reader read;
};
constexpr Variable variables[] = {
    {"INFLIGHT_DEVICE", read_device},
    {"INFLIGHT_DEVICES", read_devices},
    {"INFLIGHT_DRIVER", read_driver},
    {"INFLIGHT_ASYNC", read_timing},
    {"INFLIGHT_TURNS", read_turns},
    {"INFLIGHT_COMPILE", read_compile},
    {"INFLIGHT_TIMEOUT", read_timeout},
    {"INFLIGHT_STATS", read_stats},
    {"INFLIGHT_FIDELITY", read_flag<&Settings::fidelity>},
    {"INFLIGHT_BLAS", read_path<&Settings::blas>},
    {"INFLIGHT_FFT", read_path<&Settings::fft>},
    {"INFLIGHT_HOST_ACCESS", read_flag<&Settings::host_access>},
    {"INFLIGHT_WORKERS", read_workers},
    {"INFLIGHT_ISA", read_instruction_set},
    {"INFLIGHT_PROGRESS", read_flag<&Settings::progress>},
    {"INFLIGHT_STRICT", read_flag<&Settings::strict>},
    {"INFLIGHT_LOG", read_path<&Settings::log>},
    {"INFLIGHT_PTX", read_replacements},
    {"INFLIGHT_SLACK", read_slack},
    {"INFLIGHT_MEMORY", read_memory},
    {"INFLIGHT_CHECK", read_flag<&CheckSettings::on>},
    {"INFLIGHT_LEAK_CHECK", read_flag<&CheckSettings::leaks>},
    {"INFLIGHT_ADVICE", read_flag<&CheckSettings::advice>},
    {"INFLIGHT_API_ERRORS", read_flag<&CheckSettings::api_errors>},
    {"INFLIGHT_REPORT", read_report},
    {"INFLIGHT_ERROR_EXITCODE", read_error_exitcode},
    {"INFLIGHT_SUPPRESSIONS", read_suppressions},
    {"INFLIGHT_GEN_SUPPRESSIONS", read_flag<&CheckSettings::gen_suppressions>},
    {"INFLIGHT_BASELINE", read_path<&CheckSettings::baseline>},
    {"INFLIGHT_SOURCE_ROOT", read_path<&CheckSettings::source_root>},
    {"INFLIGHT_VERBOSE", read_flag<&CheckSettings::verbose>},
    {"INFLIGHT_SEEDS", read_seeds},
    {"INFLIGHT_SPOOL", read_path<&CheckSettings::spool>},
};

}  // namespace

tl::expected<Settings, std::string> read_settings(
    const std::function<const char*(const char*)>& variable) {
  Settings settings;
  settings.workers = std::min(ctest_slots(variable).value_or(settings.workers), most_workers);
  for (const Variable& each : variables) {
    const char* text = variable(each.name);
    if (!text) continue;
    if (const char* allowed = each.read(text, settings))
      return tl::unexpected(std::string(each.name) + " is '" + text + "', but it takes " + allowed +
                            ".");
  }
  return settings;
}

const Settings& settings() {
  static const Settings& instance = *[] {
    auto read = read_settings([](const char* name) -> const char* { return std::getenv(name); });
    if (!read) {
      report(read.error());
      std::_Exit(2);
    }
    return new Settings(*read);
  }();
  return instance;
}

}  // namespace inflight::cuda
