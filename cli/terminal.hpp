// What the command says to people: plain text, with emphasis where a terminal shows it.
#pragma once
#include <string>
#include <string_view>

namespace inflight::cli {

enum class Style { bold, faint, red, green, yellow };

// Whether standard output takes colours: a terminal, and NO_COLOR is not set.
bool colours();
// `text` in that style if standard output takes colours.
std::string styled(Style style, std::string_view text);
// The same with one of eight colours, taken in turn: for things distinguished by nothing else.
std::string tinted(unsigned tint, std::string_view text);

// Writes to standard output as it is.
void out(std::string_view text);
// A line on standard error: "inflight: " and the sentence.
void complain(std::string_view sentence);
// A line on standard error without that name: what to do about it.
void hint(std::string_view sentence);

}  // namespace inflight::cli
