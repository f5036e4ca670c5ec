// inflight ptx: a file's PTX and kernels, and the parts that this build cannot run.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/ptx_file.hpp"
#include "cli/ptx_shapes.hpp"
#include "cli/terminal.hpp"
#include "gpu/check/names.hpp"
#include "gpu/check/printable.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/machine/launch/launch.hpp"
#include "gpu/machine/launch/occupancy.hpp"
#include "gpu/machine/link/program.hpp"
#include "gpu/machine/memory/memory.hpp"
#include "gpu/ptx/parse.hpp"

namespace inflight::cli {
namespace {

struct PtxRequest {
  std::string path, kernel, device = "h200";
  bool print = false, shapes = false;
  std::vector<std::uint32_t> block;  // empty: not given
};

using Modules = std::vector<std::shared_ptr<const ptx::Module>>;

// True if the user means this kernel: by its name in PTX, its name in the source, or the hash that
// messages give for a shortened name.
bool wanted(const PtxRequest& request, const std::string& name) {
  if (request.kernel.empty() || name == request.kernel) return true;
  if (request.kernel == "#" + check::short_hash(name)) return true;
  std::string text = check::demangled(name);
  std::string before = text.substr(0, text.find('('));
  return text == request.kernel || before == request.kernel ||
         before.substr(0, before.find('<')) == request.kernel;
}

std::string_view kind_of(const cuda::Image& image) {
  switch (image.kind) {
    case cuda::Image::Kind::ptx:
      return "PTX";
    case cuda::Image::Kind::elf:
      return "cubin";
    case cuda::Image::Kind::lto:
      return "LTO-IR";
  }
  return "unknown";
}

std::string_view packing_of(const cuda::Image& image) {
  constexpr std::string_view names[] = {"raw", "LZ4", "zstd", "lines"};
  return names[std::size_t(image.packing)];
}

void show_image(const cuda::Image& image, bool chosen) {
  std::string version = image.kind == cuda::Image::Kind::ptx
                            ? fmt::format("{}.{}", image.version_major, image.version_minor)
                            : "";
  out(fmt::format("  {:<7} {:<9} {:<5} {:<5} {:>9} bytes  {}{}\n", kind_of(image),
                  cuda::spelling(image.architecture), version, packing_of(image),
                  image.size ? image.size : image.stored.size(), check::printable(image.name),
                  chosen ? styled(Style::green, " <- runs") : ""));
}

void show_images(const PtxFile& file, const cuda::Profile& profile) {
  if (file.fatbins.empty()) return;
  out(styled(Style::bold, fmt::format("images ({} takes the one marked)\n", profile.title)));
  for (const auto& images : file.fatbins) {
    auto chosen = cuda::choose(images, profile.architecture);
    if (!chosen && cuda::is_device_runtime(images)) {
      out("  NVIDIA's device runtime (libcudadevrt), not used\n");
      continue;
    }
    for (const cuda::Image& image : images) show_image(image, chosen && *chosen == &image);
  }
  if (!file.units.empty())
    for (const std::string& why : file.passed_over)
      out("  skipped: " + check::printable(why) + "\n");
  out("\n");
}

tl::expected<std::shared_ptr<const ptx::Module>, std::string> parse(const Unit& unit) {
  auto module = ptx::parse(unit.text, unit.source);
  if (module) return std::make_shared<const ptx::Module>(std::move(*module));
  return tl::unexpected(
      fmt::format("{}line {}, column {}: {}.", unit.source.empty() ? "" : unit.source + ": ",
                  module.error().line, module.error().column, module.error().message));
}

// Links as the loader does: all units together, as separate compilation needs. If that fails (the
// same name in two units), it links each alone.
using Programs = std::vector<std::unique_ptr<machine::Program>>;
tl::expected<Programs, std::string> link(const Modules& modules, machine::Memory& memory) {
  Programs result;
  if (auto all = machine::Program::link(modules, memory, 0)) {
    result.push_back(std::move(*all));
    return result;
  }
  for (const auto& module : modules) {
    auto one = machine::Program::link({module}, memory, 0);
    if (!one) return tl::unexpected(one.error().message);
    result.push_back(std::move(*one));
  }
  return result;
}

constexpr const char* row = "  {:>12} {:>8} {:>7} {:>6} {:>13}  {}\n";

void show_kernel(const machine::Kernel& kernel, const machine::Unsupported& missing) {
  const ptx::Module& module = *kernel.program->modules()[kernel.module];
  out(fmt::format(row, fmt::format("{} ({} B)", kernel.parameters.size(), kernel.parameter_bytes),
                  fmt::format("{} B", kernel.static_shared),
                  fmt::format("{} B", kernel.local_bytes), machine::registers(kernel),
                  module.functions[kernel.function].body.size(),
                  check::printable(check::demangled(kernel.name))));
  for (const std::string& why : missing.kernel)
    out("      " + styled(Style::red, "cannot run: ") + check::printable(why) + "\n");
  for (const std::string& why : missing.instructions)
    out("      " + styled(Style::red, "ends at: ") + check::printable(why) + "\n");
}

std::string summary(int shown, int in_part, int refused) {
  std::string parts;
  if (in_part) parts += fmt::format(", {} of which this build runs in part", in_part);
  if (refused) parts += fmt::format(", {} of which this build cannot run", refused);
  return fmt::format("{} kernel{}{}.\n", shown, shown == 1 ? "" : "s",
                     parts.empty() ? ", all of which this build runs" : parts);
}

int show_kernels(const PtxRequest& request, const Modules& modules) {
  machine::Memory memory(1, 1ull << 30);
  auto programs = link(modules, memory);
  if (!programs) return complain(programs.error() + "."), failed;
  out(styled(Style::bold, "kernels\n") +
      styled(Style::faint,
             fmt::format(row, "parameters", "shared", "local", "regs~", "instructions", "kernel")));
  int shown = 0, in_part = 0, refused = 0;
  for (const auto& program : *programs) {
    for (const machine::Kernel& kernel : program->kernels()) {
      if (!wanted(request, kernel.name)) continue;
      const machine::Unsupported missing = machine::unsupported(kernel);
      show_kernel(kernel, missing);
      ++shown;
      if (!missing.kernel.empty())
        ++refused;
      else if (!missing.instructions.empty())
        ++in_part;
    }
  }
  if (shown == 0 && !request.kernel.empty())
    return complain(fmt::format("the file has no kernel '{}'.", request.kernel)), failed;
  out(summary(shown, in_part, refused));
  return ok;
}

// Calls visit(line, its number) for the text of one function. nvcc ends it with a brace in the
// first column.
template <class Visit>
void each_line(const ptx::Module& module, const ptx::Function& function, Visit visit) {
  std::istringstream lines(*module.text);
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    if (number < function.line) continue;
    visit(line, number);
    if (line.starts_with("}")) return;
  }
}

void print_function(const ptx::Module& module, const ptx::Function& function) {
  each_line(module, function, [](const std::string& line, unsigned) { out_file(line + "\n"); });
}

// Prints it with the shapes of its registers behind each instruction.
void print_shapes(const PtxRequest& request, const ptx::Module& module,
                  const ptx::Function& function) {
  std::optional<BlockSize> block;
  if (!request.block.empty()) {
    block = {1, 1, 1};
    std::copy(request.block.begin(), request.block.end(), block->begin());
  }
  const ShapeListing listing = list_shapes(module, function, block);
  constexpr std::size_t notes_at = 64, tab = 8;  // columns
  out(styled(Style::bold, check::printable(check::demangled(function.name))) + ": " +
      listing.title + "\n");
  each_line(module, function, [&](std::string line, unsigned number) {
    for (std::size_t at = 0; (at = line.find('\t', at)) != std::string::npos;)
      line.replace(at, 1, tab - at % tab, ' ');
    line.insert(0, listing.apart.contains(number) ? "| " : "  ");
    if (const auto note = listing.notes.find(number); note != listing.notes.end()) {
      line.resize(std::max(line.size() + 1, notes_at), ' ');
      line += "// " + note->second;
    }
    out_file(line + "\n");
  });
}

// Prints the kernels that the user wants.
int print_kernels(const PtxRequest& request, const Modules& modules) {
  bool any = false;
  for (const auto& module : modules) {
    for (const ptx::Function& function : module->functions) {
      if (!function.entry || !wanted(request, std::string(function.name))) continue;
      if (!request.shapes)
        print_function(*module, function);
      else if (function.has_body)
        print_shapes(request, *module, function);
      any = true;
    }
  }
  if (any) return ok;
  complain(request.kernel.empty() ? "the file has no kernels."
                                  : fmt::format("the file has no kernel '{}'.", request.kernel));
  return failed;
}

int print_texts(const PtxFile& file) {
  for (const Unit& unit : file.units) out_file(*unit.text + "\n");
  return ok;
}

int inspect(const PtxRequest& request) {
  const cuda::Profile* profile = cuda::find_profile(request.device);
  if (!profile) {
    complain(fmt::format("device '{}' not found; 'inflight devices' lists the devices.",
                         request.device));
    return usage;
  }
  auto file = read_ptx_file(request.path, profile->architecture);
  if (!file) return complain(file.error()), failed;
  const bool prints = request.print || request.shapes;
  if (!prints) show_images(*file, *profile);
  if (file->units.empty()) {
    complain(
        fmt::format("{} can run nothing in this file: {}.", profile->title,
                    file->passed_over.empty() ? "it holds no PTX" : file->passed_over.front()));
    return failed;
  }
  if (request.print && request.kernel.empty()) return print_texts(*file);
  Modules modules;
  for (const Unit& unit : file->units) {
    auto module = parse(unit);
    if (!module) return complain(module.error()), failed;
    modules.push_back(*module);
  }
  return prints ? print_kernels(request, modules) : show_kernels(request, modules);
}

}  // namespace

void add_ptx(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("ptx", "show a file's PTX, its kernels, and what in them cannot run");
  auto request = std::make_shared<PtxRequest>();
  command->add_option("FILE", request->path, "PTX text, fatbin, program, shared object or .o file")
      ->required();
  command
      ->add_option("--kernel", request->kernel, "only this kernel, as PTX or the source names it")
      ->type_name("NAME");
  CLI::Option* const print =
      command->add_flag("--print", request->print, "print the PTX text itself");
  CLI::Option* const shapes = command->add_flag(
      "--shapes", request->shapes,
      "print kernels with what the values of each register have in common over a warp");
  shapes->excludes(print);
  constexpr std::uint32_t most_threads = 1024;
  command
      ->add_option("--block", request->block,
                   "the size of their blocks (default: .reqntid, or one row)")
      ->type_name("X[,Y[,Z]]")
      ->delimiter(',')
      ->expected(1, 3)
      ->check(CLI::Range(1u, most_threads))
      ->needs(shapes);
  command->add_option("--device", request->device, "choose images as this device does")
      ->type_name("NAME");
  command->callback([request, &status] { status = inspect(*request); });
}

}  // namespace inflight::cli
