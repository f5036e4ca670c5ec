// The conversions of CUDA's printf (CUDA C++ Programming Guide, "Formatted Output"), done by the
// host's snprintf one at a time.
#include "gpu/machine/builtins/builtin_printf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

constexpr std::size_t longest = 1 << 20;  // characters of a string or a field

// One `%...` of a format.
struct Conversion {
  std::string flags;
  int width = -1, precision = -1;  // -1: not given
  bool wide = false;               // l, ll, z, j, t: a 64-bit integer
  int narrow = 0;                  // h: 1, hh: 2
  char letter = 0;
};

// Reads arguments from the buffer, each aligned to its size.
class Arguments {
 public:
  Arguments(Warp& w, int lane, std::uint64_t address, const Messages& messages)
      : warp_(w), lane_(lane), at_(address), messages_(messages) {}
  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    good_ &= read_generic(warp_, lane_, at_, &value, sizeof(T));
    messages_.took(lane_, at_, sizeof(T));
    at_ += sizeof(T);
    ++count_;
    return value;
  }
  std::int32_t count() const { return count_; }
  bool good() const { return good_; }

 private:
  Warp& warp_;
  int lane_;
  std::uint64_t at_;
  const Messages& messages_;
  std::int32_t count_ = 0;
  bool good_ = true;
};

int number(const char*& p) {
  int value = 0;
  for (; *p >= '0' && *p <= '9'; ++p)
    value = std::min(value * 10 + (*p - '0'), static_cast<int>(longest));
  return value;
}

int star_or_number(const char*& p, Arguments& arguments) {
  if (*p != '*') return number(p);
  ++p;
  return std::clamp(arguments.next<std::int32_t>(), -static_cast<int>(longest),
                    static_cast<int>(longest));
}

// Reads a conversion after its `%` and leaves p after the letter.
Conversion parse(const char*& p, Arguments& arguments) {
  Conversion c;
  for (; *p && std::strchr("-+ #0", *p); ++p) c.flags += *p;
  if (*p == '*' || (*p >= '1' && *p <= '9')) c.width = star_or_number(p, arguments);
  if (c.width < -1) c.flags += '-', c.width = -c.width;
  if (*p == '.') c.precision = std::max(-1, star_or_number(++p, arguments));
  for (; *p && std::strchr("hlLzjtq", *p); ++p) {
    if (*p == 'h') ++c.narrow;
    c.wide |= *p != 'h' && *p != 'L';
  }
  if (*p) c.letter = *p++;
  return c;
}

template <class T>
void append(std::string& out, const Conversion& c, const char* length, T value) {
  std::string spec = "%" + c.flags;
  if (c.width >= 0) spec += fmt::format("{}", c.width);
  if (c.precision >= 0) spec += fmt::format(".{}", c.precision);
  spec += length;
  spec += c.letter;
  const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
  if (size <= 0) return;
  const std::size_t old = out.size();
  out.resize(old + static_cast<std::size_t>(size) + 1);
  std::snprintf(out.data() + old, static_cast<std::size_t>(size) + 1, spec.c_str(), value);
  out.pop_back();
}

void append_integer(std::string& out, const Conversion& c, Arguments& arguments) {
  const bool is_signed = c.letter == 'd' || c.letter == 'i';
  std::int64_t value = 0;
  if (c.wide)
    value = arguments.next<std::int64_t>();
  else if (is_signed)
    value = arguments.next<std::int32_t>();
  else
    value = arguments.next<std::uint32_t>();
  if (c.narrow == 1) value = is_signed ? std::int16_t(value) : std::int64_t{std::uint16_t(value)};
  if (c.narrow > 1) value = is_signed ? std::int8_t(value) : std::int64_t{std::uint8_t(value)};
  append(out, c, "ll", static_cast<long long>(value));
}

bool append_string(Warp& w, int lane, Messages& out, const Conversion& c, std::uint64_t at) {
  std::string text = "(null)";
  if (at != 0) {
    text.clear();
    if (!read_string(w, lane, at, text)) return false;
    out.took(lane, at, text.size() + 1);
  }
  append(out.text, c, "", text.c_str());
  return true;
}

}  // namespace

bool Messages::stopped() const { return warp_.block->grid->stop.load(std::memory_order_relaxed); }

void Messages::took(int lane, std::uint64_t address, std::uint64_t bytes) const {
  if (const Observation* const observation = warp_.block->grid->observation)
    observation->read_by_builtin(warp_, call_, lane, address, bytes);
}

void Messages::print() {
  const auto& print = warp_.block->grid->print;
  if (print && *print && !text.empty()) (*print)(text);
  printed_ += text.size();
  text.clear();
}

bool read_string(Warp& w, int lane, std::uint64_t address, std::string& out) {
  constexpr std::uint32_t step = 64;
  char chunk[step];
  for (std::size_t read = 0; read < longest;) {
    // Chunks end at multiples of their size; near the end of an allocation go byte by byte.
    const std::uint64_t at = address + read;
    std::uint32_t size = step - at % step;
    if (!read_generic(w, lane, at, chunk, size)) {
      size = 1;
      if (!read_generic(w, lane, at, chunk, size)) return false;
    }
    const void* end = std::memchr(chunk, 0, size);
    const auto length = end ? static_cast<const char*>(end) - chunk : size;
    out.append(chunk, static_cast<std::size_t>(length));
    if (end) return true;
    read += size;
  }
  return true;
}

Printed format_message(Warp& w, int lane, std::uint64_t format, std::uint64_t address,
                       Messages& messages) {
  if (format == 0) return {-1, {}};
  std::string text;
  if (!read_string(w, lane, format, text))
    return {-1, "printf's format is out of bounds: " + describe_address(w, format)};
  messages.took(lane, format, text.size() + 1);
  Arguments arguments(w, lane, address, messages);
  std::string& out = messages.text;
  std::string error;
  for (const char* p = text.c_str(); *p != 0 && !messages.stopped(); messages.print_if_much()) {
    if (*p != '%') {
      const std::size_t plain = std::strcspn(p, "%");
      out.append(p, plain);
      p += plain;
      continue;
    }
    const char* start = p++;
    const Conversion c = parse(p, arguments);
    switch (c.letter) {
      case '%':
        out += '%';
        break;
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        append_integer(out, c, arguments);
        break;
      case 'c':
        append(out, c, "", arguments.next<std::int32_t>());
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        append(out, c, "", arguments.next<double>());
        break;
      case 'p':
        append(out, c, "", reinterpret_cast<void*>(arguments.next<std::uint64_t>()));
        break;
      case 's': {
        const auto at = arguments.next<std::uint64_t>();
        if (arguments.good() && !append_string(w, lane, messages, c, at))
          error = "printf's %s argument is out of bounds: " + describe_address(w, at);
        break;
      }
      default:  // no conversion of CUDA's: copied as it is
        out.append(start, static_cast<std::size_t>(p - start));
    }
    if (!arguments.good()) return {-1, "printf reads more arguments than it was given"};
    if (!error.empty()) return {-1, error};
  }
  return {arguments.count(), {}};
}

}  // namespace inflight::machine
