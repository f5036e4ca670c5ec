// inflight devices: the profiles that the software GPU can take.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "gpu/cuda/core/profiles.hpp"
#include "gpu/cuda/core/settings.hpp"

namespace inflight::cli {
namespace {

constexpr const char* row_format = "{:<7} {:<26} {:<8} {:>8} {:>4} {:>11} {:>10} {:>7}\n";

void list() {
  out(styled(Style::bold, fmt::format(row_format, "NAME", "IS", "ARCH", "MEMORY", "SMS",
                                      "SHARED/BLOCK", "THREADS/SM", "L2")));
  for (const cuda::Profile& each : cuda::profiles()) {
    using enum cuda::Attribute;
    out(fmt::format(row_format, each.name, each.title, cuda::spelling(each.architecture),
                    fmt::format("{} GiB", each.memory >> 30), each[multiprocessors],
                    fmt::format("{} KiB", each[shared_per_block_optin] >> 10),
                    each[threads_per_multiprocessor], fmt::format("{} MiB", each[l2_bytes] >> 20)));
  }
  out(fmt::format(
      "\nChoose with 'inflight run --device NAME' or INFLIGHT_DEVICE; {} unless told.\n",
      cuda::Settings{}.device));
}

}  // namespace

void add_devices(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("devices", "list the devices that the software GPU can be");
  command->callback([&status] {
    list();
    status = ok;
  });
}

}  // namespace inflight::cli
