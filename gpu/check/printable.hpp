// Text from programs and files, made safe to show.
#pragma once
#include <string>
#include <string_view>

namespace inflight::check {

// Unprintable are control characters (also DEL and U+0080 to U+009F), those that change the
// direction or the line of the text after them, and bytes that are not UTF-8. A terminal or a page
// may obey them.

// Replaces these by escapes: "\x1b" for a byte, "\u202e" for a character above U+007F.
[[gnu::visibility("default")]] std::string printable(std::string_view text);
// The same, but line ends and tabs remain.
[[gnu::visibility("default")]] std::string printable_lines(std::string_view text);
// The same for a message: each line after its first begins with a blank, so that no part of the
// message looks like another one.
[[gnu::visibility("default")]] std::string printable_message(std::string_view text);

// Replaces each unprintable character or byte, if it is not in `kept`, by its escape.
std::string replace_unprintable(std::string_view text, std::string_view kept,
                                std::string (*escape)(std::string_view bytes));

}  // namespace inflight::check
