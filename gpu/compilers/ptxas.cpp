// ptxas: outputs PTX as if it were machine code, for programs that run an assembler themselves
// (Triton). The software GPU's driver takes PTX text where machine code is expected.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "gpu/check/printable.hpp"
#include "gpu/compilers/ptxas_options.hpp"
#include "gpu/compilers/register_limit.hpp"
#include "gpu/cuda/image/linked.hpp"
#include "gpu/host/input_file.hpp"
#include "gpu/host/output_file.hpp"
#include "gpu/ptx/parse.hpp"

namespace inflight::compilers {
namespace {

constexpr std::uint64_t largest_input = 512 << 20;  // as in a fatbin
constexpr int failed = 255;                         // exit status of ptxas after an error

// Triton derives the newest supported PTX version from the release. It caches output under the
// whole text, and so apart from that of NVIDIA's ptxas.
constexpr const char* version =
    "ptxas of the software GPU, which passes PTX on unchanged (Inflight {})\n"
    "Cuda compilation tools, release 13.0, V13.0.0\n";
constexpr const char* help =
    "usage: ptxas [options] FILE [-o OUTPUT]\n"
    "Checks the PTX in FILE and writes it to OUTPUT (elf.o by default), for the software GPU to "
    "load.\nCode generation options other than --maxrregcount are ignored; --version prints the "
    "version.\n";

int fatal(const std::string& sentence) {
  fmt::print(stderr, "ptxas fatal   : {}\n", check::printable(sentence));
  return failed;
}

int output(const std::string& text) {
  const bool wrote = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return wrote ? 0 : fatal(fmt::format("Could not write the output: {}", std::strerror(errno)));
}

int assemble(const PtxasOptions& options) {
  const auto bytes = host::read_file(options.input, largest_input);
  if (!bytes)
    return fatal(
        fmt::format("Could not open input file '{}': it {}", options.input, bytes.error()));
  auto text = std::make_shared<const std::string>(bytes->substr(0, bytes->find('\0')));
  auto module = ptx::parse(text, options.input);
  if (!module) {
    fmt::print(stderr, "ptxas {}, line {}; error   : {}\n", check::printable(options.input),
               module.error().line, check::printable(module.error().message));
    return fatal("Ptx assembly aborted due to errors");
  }
  const std::string image = limit_registers(*text, options.registers).append(cuda::assembled_mark);
  const auto wrote =
      host::replace_file(options.output, std::string_view(image.c_str(), image.size() + 1));
  if (!wrote)
    return fatal(
        fmt::format("Could not write output file '{}': {}", options.output, wrote.error()));
  return 0;
}

}  // namespace
}  // namespace inflight::compilers

int main(int count, char** words) {
  using namespace inflight::compilers;
  const auto options = read_ptxas_options({words + 1, words + count});
  if (!options) return fatal(options.error());
  switch (options->action) {
    case PtxasOptions::Action::version:
      return output(fmt::format(version, INFLIGHT_VERSION));
    case PtxasOptions::Action::help:
      return output(help);
    case PtxasOptions::Action::assemble:
      break;
  }
  return assemble(*options);
}
