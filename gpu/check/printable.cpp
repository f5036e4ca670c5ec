// Decodes UTF-8 and escapes what must not reach a terminal.
#include "gpu/check/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace inflight::check {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The first character, without overlong forms, surrogates and what lies past U+10FFFF.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool wrong = code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
  return wrong ? Character{} : Character{code, bytes};
}

constexpr bool obeyed(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

std::string escape_of(std::string_view bytes) {
  const Character c = first_of(bytes);
  char text[16];
  if (c.code > 0x7f)
    std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(c.code));
  else
    std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned char>(bytes[0]));
  return text;
}

}  // namespace

std::string replace_unprintable(std::string_view text, std::string_view kept,
                                std::string (*escape)(std::string_view bytes)) {
  std::string result;
  while (!text.empty()) {
    // Most text is plain ASCII, which is copied at once.
    const auto plain = std::find_if(text.begin(), text.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte < 0x20 || byte >= 0x7f;
    });
    const auto count = static_cast<std::size_t>(plain - text.begin());
    result += text.substr(0, count);
    text.remove_prefix(count);
    if (text.empty()) break;
    const Character c = first_of(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(c.bytes, 1));
    const bool shown = c.bytes != 0 && !obeyed(c.code);
    result += shown || kept.find(text[0]) != kept.npos ? std::string(bytes) : escape(bytes);
    text.remove_prefix(bytes.size());
  }
  return result;
}

std::string printable(std::string_view text) { return replace_unprintable(text, {}, escape_of); }
std::string printable_lines(std::string_view text) {
  return replace_unprintable(text, "\n\t", escape_of);
}

std::string printable_message(std::string_view text) {
  std::string message = printable_lines(text);
  for (auto at = message.find('\n'); at != message.npos; at = message.find('\n', at + 1))
    if (at + 1 < message.size() && message[at + 1] != ' ') message.insert(at + 1, "  ");
  return message;
}

}  // namespace inflight::check
