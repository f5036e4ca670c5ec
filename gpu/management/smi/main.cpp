// nvidia-smi for the software GPU: the table, -L, -q, --query-gpu and --query-compute-apps.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/management/smi/device.hpp"

namespace inflight::smi {
namespace {

// What nvidia-smi exits with.
enum Exit { good = 0, bad_argument = 2, no_such_device = 6, no_driver = 9 };

struct Request {
  enum class What { table, list, full, query, processes };
  What what = What::table;
  std::vector<std::string> fields;
  std::vector<std::string> ids;  // of -i; empty: all devices
  bool csv = false, header = true, units = true;
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int complain(const std::string& text) {
  say(text + "\n");
  return bad_argument;
}

bool is_asked(const Request& request, const Device& d) {
  if (request.ids.empty()) return true;
  for (const std::string& id : request.ids)
    if (id == std::to_string(d.index) || id == d.uuid || id == d.bus_id) return true;
  return false;
}

std::string now() {
  return fmt::format("{:%a %b %e %H:%M:%S %Y}", fmt::localtime(std::time(nullptr)));
}

void print_table(const Request& request, const Machine& m) {
  const std::string line = "+" + std::string(89, '-') + "+\n";
  const std::string columns =
      "|" + std::string(41, '-') + "+" + std::string(24, '-') + "+" + std::string(22, '-') + "|\n";
  say(now() + "\n" + line);
  say(fmt::format("| NVIDIA-SMI {0:<22} Driver Version: {0:<14} CUDA Version: {1:<9}|\n", m.driver,
                  m.cuda));
  say("|-----------------------------------------+------------------------+----------------------+"
      "\n");
  say("| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC "
      "|\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. "
      "|\n"
      "|                                         |                        |               MIG M. "
      "|\n");
  std::string mark = columns;
  for (char& c : mark) c = c == '-' ? '=' : c;
  say(mark);
  for (const Device& d : m.devices) {
    if (!is_asked(request, d)) continue;
    say(fmt::format("| {:>3}  {:<26.26}   Off |   {:<16.16} Off |{:>21} |\n", d.index, d.name,
                    d.bus_id, "N/A"));
    say(
        fmt::format("| N/A   N/A   N/A             N/A /  N/A  | {:>7}MiB / {:>6}MiB | {:>7}%     "
                    " Default |\n",
                    d.used, d.total, 0));
    say(fmt::format("|{:41}|{:24}|{:>21} |\n", "", "", "Disabled"));
    std::string end = columns;
    end.front() = '+', end[end.size() - 2] = '+';
    say(end);
  }
  say("\n" + line);
  say(fmt::format("|{:<89}|\n", " Processes:"));
  say(fmt::format(
      "|{:<89}|\n",
      "  GPU   GI   CI              PID   Type   Process name                        GPU Memory"));
  say(fmt::format(
      "|{:<89}|\n",
      "        ID   ID                                                               Usage"));
  say("|" + std::string(89, '=') + "|\n");
  say(fmt::format("|{:<89}|\n", "  No running processes found"));
  say(line);
}

void print_list(const Request& request, const Machine& m) {
  for (const Device& d : m.devices)
    if (is_asked(request, d)) say(fmt::format("GPU {}: {} (UUID: {})\n", d.index, d.name, d.uuid));
}

void print_full(const Request& request, const Machine& m) {
  const auto row = [](int depth, std::string_view name, std::string_view value) {
    say(fmt::format("{0:{1}}{2:<{3}}: {4}\n", "", 4 * depth, name, 50 - 4 * depth, value));
  };
  say("\n==============NVSMI LOG==============\n\n");
  row(0, "Timestamp", now());
  row(0, "Driver Version", m.driver);
  row(0, "CUDA Version", m.cuda);
  say("\n");
  row(0, "Attached GPUs", std::to_string(m.devices.size()));
  for (const Device& d : m.devices) {
    if (!is_asked(request, d)) continue;
    say(fmt::format("GPU {}\n", d.bus_id));
    row(1, "Product Name", d.name);
    row(1, "Persistence Mode", "Disabled");
    row(1, "GPU UUID", d.uuid);
    say("    PCI\n");
    row(2, "Bus", fmt::format("0x{:02X}", d.bus));
    row(2, "Device", fmt::format("0x{:02X}", d.device));
    row(2, "Domain", fmt::format("0x{:04X}", d.domain));
    row(2, "Device Id", fmt::format("0x{:08X}", d.device_id));
    row(2, "Bus Id", d.bus_id);
    say("    FB Memory Usage\n");
    row(2, "Total", fmt::format("{} MiB", d.total));
    row(2, "Reserved", "0 MiB");
    row(2, "Used", fmt::format("{} MiB", d.used));
    row(2, "Free", fmt::format("{} MiB", d.free));
    row(1, "Compute Mode", "Default");
    say("    Utilization\n");
    row(2, "GPU", "0 %");
    row(2, "Memory", "0 %");
    row(1, "Processes", "None");
  }
}

int print_query(const Request& request, const Machine& m) {
  for (const std::string& field : request.fields)
    if (!is_field(field))
      return complain(fmt::format("Field \"{}\" is not a valid field to query.\n", field));
  const auto join = [&](auto&& text_of) {
    std::string line;
    for (const std::string& field : request.fields)
      line += (line.empty() ? "" : ", ") + text_of(field);
    say(line + "\n");
  };
  if (request.header) join([&](const std::string& f) { return f + heading_of(f); });
  for (const Device& d : m.devices) {
    if (!is_asked(request, d)) continue;
    join([&](const std::string& f) {
      const Value v = value_of(f, m, d);
      return request.units ? v.text + std::string(v.unit) : v.text;
    });
  }
  return good;
}

// No other process uses a software GPU.
int print_processes(const Request& request) {
  std::string line;
  for (const std::string& field : request.fields)
    line += (line.empty() ? "" : ", ") + field + (field.starts_with("used_") ? " [MiB]" : "");
  if (request.header) say(line + "\n");
  return good;
}

struct Option {
  std::string_view brief, name;
  bool takes;
};
constexpr Option options[] = {
    {"-L", "--list-gpus", false}, {"-q", "--query", false},           {"-i", "--id", true},
    {"", "--query-gpu", true},    {"", "--query-compute-apps", true}, {"", "--format", true},
    {"-h", "--help", false}};

void format(Request& request, std::string_view value) {
  for (const std::string& word : split(value)) {
    request.csv |= word == "csv";
    if (word == "noheader") request.header = false;
    if (word == "nounits") request.units = false;
  }
}

void take(Request& request, std::string_view option, const std::string& value) {
  if (option == "--list-gpus") request.what = Request::What::list;
  if (option == "--query") request.what = Request::What::full;
  if (option == "--id") request.ids = split(value);
  if (option == "--query-gpu") request.what = Request::What::query, request.fields = split(value);
  if (option == "--query-compute-apps")
    request.what = Request::What::processes, request.fields = split(value);
  if (option == "--format") format(request, value);
}

int help() {
  say("nvidia-smi for Inflight's software GPU: shows the devices that a program would find.\n\n"
      "  -L, --list-gpus              the devices and their UUIDs\n"
      "  -q, --query                  more about each device\n"
      "  -i, --id=ID,...              only these: by index, UUID or bus id\n"
      "  --query-gpu=FIELD,...        these fields, with --format=csv[,noheader][,nounits]\n"
      "  --query-compute-apps=...     the fields of no process\n");
  return good;
}

int run(const std::vector<std::string>& words) {
  Request request;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const Option* found = nullptr;
    for (const Option& each : options)
      if (name == each.name || (!each.brief.empty() && name == each.brief)) found = &each;
    if (!found)
      return complain(
          fmt::format("Invalid combination of input arguments: '{}' is not known to this "
                      "nvidia-smi. Please run 'nvidia-smi -h' for help.\n",
                      words[i]));
    if (found->name == "--help") return help();
    std::string value;
    if (found->takes && equals != std::string::npos) value = words[i].substr(equals + 1);
    if (found->takes && equals == std::string::npos && i + 1 < words.size()) value = words[++i];
    take(request, found->name, value);
  }
  using What = Request::What;
  const bool query = request.what == What::query || request.what == What::processes;
  if (query && !request.csv)
    return complain("\"--format=\" switch is missing. Please run 'nvidia-smi -h' for help.\n");
  const Machine machine = read_machine();
  if (machine.driver.empty()) {
    say("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n");
    return no_driver;
  }
  bool any = false;
  for (const Device& d : machine.devices) any |= is_asked(request, d);
  if (!any) return say("No devices were found\n"), no_such_device;
  switch (request.what) {
    case What::table:
      return print_table(request, machine), good;
    case What::list:
      return print_list(request, machine), good;
    case What::full:
      return print_full(request, machine), good;
    case What::query:
      return print_query(request, machine);
    case What::processes:
      break;
  }
  return print_processes(request);
}

}  // namespace
}  // namespace inflight::smi

int main(int count, char** words) { return inflight::smi::run({words + 1, words + count}); }
