// inflight devices: the device profiles of the software GPU.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "gpu/cuda/core/base/ctest.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/host/cores.hpp"

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
  out(fmt::format("\nChoose with 'inflight run --device NAME' or INFLIGHT_DEVICE; {} by default.\n",
                  cuda::Settings{}.device));
}

// Prints a resource specification file (CMake manual, "ctest(1)"). It has as many devices as the
// host has cores, and one test at a time uses each.
void list_for_ctest() {
  std::string devices;
  for (unsigned i = 0; i < host::cores(); ++i)
    devices += fmt::format("{}\n      {{\"id\": \"{}\", \"slots\": 1}}", i ? "," : "", i);
  out(
      fmt::format("{{\n  \"version\": {{\"major\": 1, \"minor\": 0}},\n  \"local\": [{{\n    "
                  "\"{}\": [{}\n    ]\n  }}]\n}}\n",
                  cuda::ctest_resource, devices));
}

}  // namespace

void add_devices(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("devices", "list the devices that the software GPU can emulate");
  auto for_ctest = std::make_shared<bool>(false);
  command->add_flag("--ctest", *for_ctest,
                    "a resource file for ctest --resource-spec-file: a device for each core");
  command->callback([for_ctest, &status] {
    *for_ctest ? list_for_ctest() : list();
    status = ok;
  });
}

}  // namespace inflight::cli
