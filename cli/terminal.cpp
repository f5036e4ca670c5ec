// Colours and messages.
#include "cli/terminal.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "gpu/check/printable.hpp"

namespace inflight::cli {
namespace {

bool takes_colours(int descriptor) {
  const char* no = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(descriptor) && !(no && *no) && terminal && std::string_view(terminal) != "dumb";
}

constexpr std::string_view codes[] = {"1", "2", "31", "32", "33"};
constexpr std::string_view tints[] = {"31", "33", "32", "36", "34", "35", "91", "94"};

std::string wrap(std::string_view code, std::string_view text) {
  std::string result = "\033[";
  result += code;
  result += 'm';
  result += text;
  return result + "\033[0m";
}

void line(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

}  // namespace

bool colours() {
  static const bool instance = takes_colours(STDOUT_FILENO);
  return instance;
}

std::string styled(Style style, std::string_view text) {
  return colours() ? wrap(codes[int(style)], text) : std::string(text);
}

std::string tinted(unsigned tint, std::string_view text) {
  return colours() ? wrap(tints[tint % std::size(tints)], text) : std::string(text);
}

void out(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void complain(std::string_view sentence) {
  std::fflush(stdout);  // so that the sentence does not come in the middle of earlier text
  std::string name = "inflight:";
  if (takes_colours(STDERR_FILENO)) name = wrap(codes[int(Style::red)], name);
  line(name + " " + check::printable_message(sentence));
}

void hint(std::string_view sentence) { line("          " + check::printable_message(sentence)); }

void out_file(std::string_view text) {
  static const bool terminal = isatty(STDOUT_FILENO);
  out(terminal ? check::printable_lines(text) : std::string(text));
}

bool finish_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return true;
  complain(std::string("the output could not be written") +
           (errno ? std::string(": ") + std::strerror(errno) : std::string()) + ".");
  return false;
}

}  // namespace inflight::cli
