// Parses the command line of ptxas.
#include "gpu/compilers/ptxas_options.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "gpu/compilers/register_limit.hpp"

namespace inflight::compilers {
namespace {

// Options whose value may be the next word, from `ptxas --help`.
constexpr std::string_view with_value[] = {
    "--allow-expensive-optimizations",
    "-allow-expensive-optimizations",
    "--device-function-maxrregcount",
    "-func-maxrregcount",
    "--def-load-cache",
    "-dlcm",
    "--def-store-cache",
    "-dscm",
    "--disable-optimizer-constants-merge",
    "--entry",
    "-e",
    "--fmad",
    "-fmad",
    "--force-load-cache",
    "-flcm",
    "--force-store-cache",
    "-fscm",
    "--gpu-name",
    "-arch",
    "--machine",
    "-m",
    "--maxntid",
    "-maxntid",
    "--maxrregcount",
    "-maxrregcount",
    "--minnctapersm",
    "-minnctapersm",
    "--opt-level",
    "-O",
    "--override-directive-values",
    "-override-directive-values",
    "--register-usage-level",
    "-register-usage-level",
    "--split-compile",
    "-split-compile",
    "--regAllocOptLevel",
};
// Unsupported options, which would read further options or the input from elsewhere.
constexpr std::string_view not_read[] = {"--options-file", "-optf", "--input-as-string", "-ias"};

struct Word {
  std::string_view name, value;
  bool has_value = false;
};

Word split(std::string_view word) {
  const auto at = word.find('=');
  if (at == word.npos) return {word, {}, false};
  return {word.substr(0, at), word.substr(at + 1), true};
}

template <std::size_t N>
bool is_in(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

tl::unexpected<std::string> refuse(std::string_view what, std::string_view name) {
  return tl::unexpected(std::string(what) + " '" + std::string(name) + "'");
}

}  // namespace

tl::expected<PtxasOptions, std::string> read_ptxas_options(const std::vector<std::string>& words) {
  PtxasOptions options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_option = words[i].size() > 1 && words[i][0] == '-';
    if (!is_option) {
      if (!options.input.empty())
        return refuse("More than one input file: '" + options.input + "' and", words[i]);
      options.input = words[i];
      continue;
    }
    const Word word = split(words[i]);
    const bool output = word.name == "-o" || word.name == "--output-file";
    if (word.name == "--version" || word.name == "-V")
      options.action = PtxasOptions::Action::version;
    if (word.name == "--help" || word.name == "-h") options.action = PtxasOptions::Action::help;
    if (is_in(not_read, word.name))
      return refuse("The software GPU's ptxas does not support", word.name);
    if (!output && !is_in(with_value, word.name)) continue;
    if (!word.has_value && i + 1 == words.size()) return refuse("Missing value for", word.name);
    const std::string value = word.has_value ? std::string(word.value) : words[++i];
    if (output) options.output = value;
    if (word.name == "--maxrregcount" || word.name == "-maxrregcount")
      options.registers = register_limit(value);
  }
  if (options.action == PtxasOptions::Action::assemble && options.input.empty())
    return tl::unexpected(std::string("No input file: ptxas [options] FILE [-o OUTPUT]"));
  return options;
}

}  // namespace inflight::compilers
