// Parses the options of nvJitLinkCreate.
#include "gpu/compilers/link_options.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "gpu/compilers/architecture.hpp"
#include "gpu/compilers/register_limit.hpp"

namespace inflight::compilers {
namespace {

// Other options that are accepted. One that ends in '=' has its value in the same word.
constexpr std::string_view known[] = {"-O0",
                                      "-O3",
                                      "-Xnvvm=",
                                      "-Xptxas=",
                                      "-fma=",
                                      "-ftz=",
                                      "-g",
                                      "-jump-table-density=",
                                      "-kernels-used=",
                                      "-lineinfo",
                                      "-ltoir",
                                      "-no-cache",
                                      "-optimize-unused-variables",
                                      "-prec-div=",
                                      "-prec-sqrt=",
                                      "-r",
                                      "-register-usage-level=",
                                      "-report-arch",
                                      "-split-compile-extended=",
                                      "-split-compile=",
                                      "-time",
                                      "-variables-used=",
                                      "-verbose"};

bool is_known(std::string_view word) {
  return std::any_of(std::begin(known), std::end(known), [&](std::string_view each) {
    return each.back() == '=' ? word.starts_with(each) : word == each;
  });
}

tl::unexpected<LinkError> refuse(LinkStatus status, std::string message) {
  return tl::unexpected<LinkError>({status, std::move(message)});
}

}  // namespace

tl::expected<LinkOptions, LinkError> read_link_options(std::span<const char* const> words) {
  constexpr std::string_view arch = "-arch=", registers = "-maxrregcount=";
  LinkOptions options;
  std::optional<Target> target;
  for (const char* text : words) {
    if (!text) return refuse(LinkStatus::null_input, "an option is a null pointer");
    const std::string word = text;
    options.words.push_back(word);
    if (word.starts_with(arch)) {
      target = read_target(std::string_view(word).substr(arch.size()));
      if (!target)
        return refuse(
            LinkStatus::unrecognized_option,
            "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (" + word + ")");
    } else if (word == "-lto") {
      options.lto = true;
    } else if (word == "-ptx") {
      options.ptx = true;
    } else if (word.starts_with(registers)) {
      options.registers = register_limit(std::string_view(word).substr(registers.size()));
    } else if (!is_known(word)) {
      return refuse(LinkStatus::unrecognized_option, "unrecognized option: " + word);
    }
  }
  if (!target) return refuse(LinkStatus::missing_arch, "ERROR: -arch=sm_XX is missing");
  if (options.ptx && !options.lto)
    return refuse(LinkStatus::incompatible_options, "ERROR: -ptx requires -lto");
  if (!target->machine_code && !options.ptx)
    return refuse(LinkStatus::incompatible_options, "ERROR: virtual arch requires -ptx");
  options.architecture = target->architecture;
  return options;
}

}  // namespace inflight::compilers
