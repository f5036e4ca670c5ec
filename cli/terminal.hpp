// The command's messages: plain text, with styles on a terminal.
#pragma once
#include <string>
#include <string_view>

namespace inflight::cli {

enum class Style { bold, faint, red, green, yellow };

// True if standard output takes colours: it is a terminal, and NO_COLOR is not set.
bool colours();
// `text` in that style if standard output takes colours.
std::string styled(Style style, std::string_view text);
// The same with one of eight colours in turn, to tell similar things apart.
std::string tinted(unsigned tint, std::string_view text);

// Writes text unchanged to standard output.
void out(std::string_view text);
// Writes text of a file to standard output: unchanged, or printable if that is a terminal.
void out_file(std::string_view text);
// Writes what standard output still holds back. Returns false after a message if anything written
// to it was lost.
bool finish_output();
// Writes a line on standard error: "inflight: " and the sentence, printable.
void complain(std::string_view sentence);
// Writes a line on standard error without that prefix: advice on what to do.
void hint(std::string_view sentence);

}  // namespace inflight::cli
