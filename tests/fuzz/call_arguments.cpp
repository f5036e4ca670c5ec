// Turns words into arguments.
#include "tests/fuzz/call_arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/fuzz/reporting.hpp"

namespace inflight::fuzz {
namespace {

constexpr std::uint64_t device_page = 2 << 20;
constexpr std::align_val_t block_alignment{64};  // that of tensor maps

constexpr const char* module_text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 8 .b8 variable[64];
.visible .const .align 8 .b8 constant[64];
.visible .global .attribute(.managed) .align 8 .b8 managed[64];
.visible .entry copy(.param .u64 to, .param .u64 from) {
  .reg .b64 %a<3>;
  .reg .b32 %r<5>;
  .reg .pred %p;
  .shared .align 16 .b8 s[64];
  ld.param.u64 %a1, [to];
  ld.param.u64 %a2, [from];
  mov.u32 %r1, s;
  cp.async.ca.shared.global [%r1], [%a2], 16;
  mov.u32 %r2, 0;
AGAIN:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, 3000;
  @%p bra AGAIN;
  cp.async.wait_all;
  ld.shared.u32 %r3, [%r1];
  st.global.u32 [%a1], %r3;
  ret;
}
.visible .entry fill(.param .u64 to) {
  .reg .b64 %a<4>;
  .reg .b32 %r<3>;
  ld.param.u64 %a1, [to];
  mov.u32 %r1, %tid.x;
  and.b32 %r1, %r1, 3;
  mul.wide.u32 %a2, %r1, 4;
  add.u64 %a3, %a1, %a2;
  st.global.u32 [%a3], %r1;
  ret;
}
.visible .entry empty() { ret; }
)";
constexpr const char* names[] = {"copy",     "fill",     "empty",   "copy", "fill",
                                 "variable", "constant", "managed", "none", ""};
constexpr const char* paths[] = {"/dev/null", "/nonexistent", "", "/", "/proc/self/exe"};
constexpr const char* wrong_images[] = {"", "garbage", ".version 8.0\n.target sm_80\n.entry k( {"};
alignas(8) constexpr char zero_image[4096] = {'\x7f', 'E', 'L', 'F', 2, 1, 1};

// What the driver calls.
void function(void*) {}
void callback(void*, int, void*) {}
std::size_t shared_of(int threads) { return static_cast<std::size_t>(threads) * 4; }
void log_callback(void*, int, char*, std::size_t) {}
template <class F>
std::uint64_t address_of(F* f) {
  return reinterpret_cast<std::uint64_t>(f);
}

// Buffers that must live as long as what is made with them.
struct JitBuffers {
  char text[4096] = {};
  void* values[4] = {};
};
// The groups of multiprocessors that a thread has split last, and their number.
alignas(16) thread_local std::array<std::byte, std::size_t{16} * 144> split;
thread_local unsigned split_count = 8;
thread_local int jit_options[4];
thread_local std::size_t jit_count = 0;

struct Special {
  std::string_view word;
  std::uint64_t (*value)(Choices&);
};
// Words that depend on nothing.
constexpr Special simple[] = {
    {"memory_type", [](Choices& c) { return std::uint64_t{1} + c.below(3); }},
    {"format",
     [](Choices& c) {
       return c.pick(std::array<std::uint64_t, 9>{1, 2, 3, 8, 9, 16, 32, 32, 7});
     }},
    {"array_flags",
     [](Choices& c) {
       return c.pick(std::array<std::uint64_t, 6>{0, 0, 2, 1, 4, 3});
     }},
    {"element",
     [](Choices& c) {
       return c.pick(std::array<std::uint64_t, 4>{1, 2, 4, 3});
     }},
    {"wait_operation", [](Choices& c) { return std::uint64_t{1} + c.below(6); }},
    {"branch", [](Choices& c) { return std::uint64_t{2} * c.below(2); }},  // if, switch
    {"any", [](Choices& c) { return c.pick(extremes); }},
    {"name", [](Choices& c) { return address_of(c.pick(names)); }},
    {"text", [](Choices&) { return address_of(module_text); }},
    {"copy_name", [](Choices&) { return address_of(names[0]); }},
    {"fill_name", [](Choices&) { return address_of(names[1]); }},
    {"variable_name", [](Choices&) { return address_of(names[5]); }},
    {"path", [](Choices& c) { return address_of(c.pick(paths)); }},
    {"null_device", [](Choices&) { return address_of(paths[0]); }},
    {"image",
     [](Choices& c) {
       if (!c.one_in(6)) return address_of(module_text);
       return c.one_in(3) ? address_of(zero_image) : address_of(c.pick(wrong_images));
     }},
    {"image_size", [](Choices&) { return std::uint64_t{std::strlen(module_text)}; }},
    {"function", [](Choices&) { return address_of(function); }},
    // A driver calls whatever a host node's function is.
    {"type_but_host",
     [](Choices& choices) {
       constexpr std::uint64_t host = 3, wait = 6;
       const std::uint64_t type = choices.below(15);
       return type == host ? wait : type;
     }},
    {"destructor", [](Choices&) { return address_of(function); }},
    {"callback", [](Choices&) { return address_of(callback); }},
    {"log_callback", [](Choices&) { return address_of(log_callback); }},
    {"shared_of", [](Choices& c) { return c.one_in(2) ? address_of(shared_of) : 0; }},
    {"data", [](Choices&) { return address_of(&split_count); }},
    {"split", [](Choices& c) { return address_of(split.data()) + 144 * c.below(8); }},
    {"split_count", [](Choices& c) { return split_count = c.below(8), address_of(&split_count); }},
};

std::uint64_t number_in(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Kind kind_named(std::string_view name) {
  static constexpr std::string_view all[] = {
#define X(kind) #kind,
      INFLIGHT_FUZZ_KINDS(X)
#undef X
  };
  const auto found = std::find(std::begin(all), std::end(all), name);
  require(found != std::end(all), "the word '" + std::string(name) + "' is known");
  return static_cast<Kind>(found - std::begin(all));
}

template <class Each>
void each_word(std::string_view text, Each each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

void Handles::add(Kind kind, std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  auto& all = live_[static_cast<std::size_t>(kind)];
  if (handle && std::find(all.begin(), all.end(), handle) == all.end()) all.push_back(handle);
}
void Handles::end(Kind kind, std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  std::erase(live_[static_cast<std::size_t>(kind)], handle);
  stale_[static_cast<std::size_t>(kind)].push_back(handle);
}
std::uint64_t Handles::any(const std::vector<std::uint64_t>& all, Choices& choices) {
  return all.empty() ? 0 : all[choices.below(all.size())];
}
std::uint64_t Handles::live(Kind kind, Choices& choices) const {
  const std::lock_guard lock(mutex_);
  return any(live_[static_cast<std::size_t>(kind)], choices);
}
std::uint64_t Handles::stale(Kind kind, Choices& choices) const {
  const std::lock_guard lock(mutex_);
  return any(stale_[static_cast<std::size_t>(kind)], choices);
}

Arguments::Arguments(const Call& call, Surroundings& around, Choices& choices)
    : around_(around), choices_(choices) {
  each_word(call.arguments, [&](std::string_view word) { values_[count_++] = value(word); });
}

// Whoever still reads them reads nonsense, also without a sanitizer.
Arguments::~Arguments() {
  for (const auto& [bytes, size] : blocks_) {
    std::memset(bytes, 0xdd, size);
    ::operator delete(bytes, block_alignment);
  }
}

void Arguments::succeeded() {
  constexpr std::uint64_t most_in_array = 16, most_owned = 64;
  for (const Made& each : made_) {
    std::uint64_t first = 0;
    std::memcpy(&first, each.where, sizeof first);
    if (each.as == Made::As::one) {
      around_.handles.add(each.kind, first);
      continue;
    }
    const bool owned = each.as == Made::As::owned;
    // Another thread may end what the driver owns.
    if (owned && (!around_.alone || !first)) continue;
    const std::uint64_t number =
        std::min(cap_ ? *cap_ : std::uint64_t{1}, owned ? most_owned : most_in_array);
    const auto* const from = owned ? reinterpret_cast<const std::byte*>(first) : each.where;
    for (std::uint64_t i = 0; i < number; ++i) {
      std::uint64_t handle = 0;
      std::memcpy(&handle, from + i * sizeof handle, sizeof handle);
      around_.handles.add(each.kind, handle);
    }
  }
  for (const auto& [kind, handle] : ended_) around_.handles.end(kind, handle);
  for (const auto& [kind, handle] : began_) around_.handles.add(kind, handle);
}

std::byte* Arguments::block(std::size_t bytes) {
  auto* const made = static_cast<std::byte*>(::operator new(bytes, block_alignment));
  std::memset(made, 0, bytes);
  blocks_.emplace_back(made, bytes);
  return made;
}
std::uint64_t Arguments::cell(std::uint64_t value) { return cells({value}); }
std::uint64_t Arguments::cells(std::initializer_list<std::uint64_t> list) {
  std::byte* const place = block(list.size() * sizeof(std::uint64_t));
  std::memcpy(place, list.begin(), list.size() * sizeof(std::uint64_t));
  return address_of(place);
}

std::uint64_t Arguments::number(std::uint64_t below) {
  return hostile() ? choices_.pick(extremes) : choices_.below(below);
}

std::uint64_t Arguments::handle(Kind kind) {
  if (!hostile()) {
    if (kind == Kind::stream && choices_.one_in(4)) return choices_.below(3);  // default streams
    return around_.handles.live(kind, choices_);
  }
  switch (choices_.below(8)) {
    case 0:
      return 0;
    case 1:
      return choices_.pick(extremes);
    case 2:
      return around_.handles.live(static_cast<Kind>(choices_.below(kinds)), choices_);
    case 3:
      return address_of(around_.host.base());
    default:
      return around_.handles.stale(kind, choices_);
  }
}

// Memory that a kernel can use.
std::uint64_t Arguments::usable_address() {
  static constexpr Kind from[] = {Kind::device_memory, Kind::device_memory, Kind::pinned,
                                  Kind::graph_memory,  Kind::range,         Kind::registered};
  const std::uint64_t found = around_.handles.live(choices_.pick(from), choices_);
  return found ? found : around_.handles.live(Kind::device_memory, choices_);
}

std::uint64_t Arguments::device_address() {
  if (!hostile()) {
    const std::uint64_t base =
        choices_.one_in(8) ? around_.handles.live(Kind::global, choices_) : usable_address();
    return choices_.one_in(4) ? base + 4 * choices_.below(64) : base;
  }
  switch (choices_.below(6)) {
    case 0:
      return choices_.pick(extremes);
    case 1:
      return around_.handles.live(Kind::reserved, choices_) + choices_.pick(extremes);
    case 2:
      return usable_address() + choices_.pick(extremes);
    case 3:
      return address_of(around_.host.base()) + choices_.below(HostMemory::bytes);
    default: {
      static constexpr Kind from[] = {Kind::device_memory, Kind::graph_memory, Kind::range,
                                      Kind::reserved, Kind::global};
      return around_.handles.stale(choices_.pick(from), choices_);
    }
  }
}

std::uint64_t Arguments::array(std::string_view element, std::string_view length) {
  length_ = !length.empty() ? number_in(length) : planned_ ? planned_ : choices_.below(4);
  planned_ = 0;
  if (length_ == 0 && choices_.one_in(2)) return 0;
  const std::size_t length_here = length_;
  std::uint64_t place = 0;
  if (element[0] == '*') {
    place = structure(element.substr(1), length_here);
  } else {
    std::byte* const list = block(length_here * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < length_here; ++i) {
      const std::uint64_t each = value(element);
      std::memcpy(list + i * sizeof each, &each, sizeof each);
    }
    place = address_of(list);
  }
  length_ = length_here;
  return place;
}

std::uint64_t Arguments::structure(std::string_view name, std::size_t number) {
  const auto all = driver_layouts();
  const auto layout =
      std::find_if(all.begin(), all.end(), [&](const Layout& l) { return l.name == name; });
  require(layout != all.end(), "the structure '" + std::string(name) + "' is known");
  std::byte* const place = block(layout->bytes * number);
  for (std::size_t i = 0; i < number; ++i) fill(*layout, place + i * layout->bytes);
  return address_of(place);
}

void Arguments::fill(const Layout& layout, std::byte* place) {
  ++depth_;
  each_word(layout.fields, [&](std::string_view field) {
    const std::size_t slash = field.find('/'), colon = field.find(':');
    const std::size_t offset = number_in(field.substr(0, slash));
    const std::size_t bytes = number_in(field.substr(slash + 1, colon - slash - 1));
    const std::string_view word = field.substr(colon + 1);
    if (word[0] == '+') {  // the call stores the handle here
      const bool owned = word.back() == '^';
      made_.push_back({kind_named(word.substr(1, word.size() - 1 - owned)), place + offset,
                       owned ? Made::As::owned : Made::As::one});
      return;
    }
    const std::uint64_t v = value(word);
    std::memcpy(place + offset, &v, bytes);
  });
  --depth_;
}

std::uint64_t Arguments::value(std::string_view word) {
  const char first = word[0], second = word.size() > 1 ? word[1] : 'x';
  const bool counted = second >= '0' && second <= '9';
  if (first >= '0' && first <= '9') return number_in(word);
  if (first == 'n' && counted) return number(number_in(word.substr(1)));
  if (first == 'b' && counted) return choices_.below(number_in(word.substr(1)));
  if (first == 'o' && counted)
    return hostile() && choices_.one_in(4) ? 0 : address_of(block(number_in(word.substr(1))));
  if (first == '&') {
    const std::uint64_t at = cell(value(word.substr(1)));
    if (word == "&cap") cap_ = reinterpret_cast<std::uint64_t*>(at);
    return at;
  }
  if (const std::size_t bracket = word.find('['); bracket != word.npos && first != '+')
    return array(word.substr(0, bracket), word.substr(bracket + 1, word.size() - bracket - 2));
  if (first == '*') return hostile() && choices_.one_in(4) ? 0 : structure(word.substr(1), 1);
  if (first == '+') {
    if (hostile() && choices_.one_in(6)) return 0;
    constexpr std::size_t room = 16 * sizeof(std::uint64_t);
    const bool several = word.ends_with("[]"), owned = word.back() == '^';
    std::byte* const place = block(several ? room : sizeof(std::uint64_t));
    made_.push_back({kind_named(word.substr(1, word.size() - 1 - (several ? 2 : owned))), place,
                     several ? Made::As::array
                     : owned ? Made::As::owned
                             : Made::As::one});
    return address_of(place);
  }
  if (first == '-') {
    const Kind kind = kind_named(word.substr(1));
    const std::uint64_t found = handle(kind);
    ended_.emplace_back(kind, found);
    return found;
  }
  return special(word);
}

std::uint64_t Arguments::special(std::string_view word) {
  for (const Special& each : simple)
    if (each.word == word) return each.value(choices_);
  if (word == "dptr") return device_address();
  if (word == "host") {
    // Half of it, so that what is added stays inside.
    return address_of(around_.host.base()) + 16 * choices_.below(HostMemory::bytes / 32);
  }
  if (word == "size") {
    static constexpr std::uint64_t usual[] = {64, 16, 256, 4096, 1000, 1 << 16};
    return hostile() ? choices_.pick(extremes) : choices_.pick(usual);
  }
  if (word == "pitch") {
    static constexpr std::uint64_t usual[] = {64, 128, 128, 256, 512};
    return choices_.pick(usual);
  }
  if (word == "whole") {
    if (!hostile()) return device_page << choices_.below(2);
    return choices_.one_in(2) ? choices_.pick(extremes)
                              : device_page - (std::uint64_t{1} << (21 + choices_.below(43)));
  }
  if (word == "alignment")
    return hostile() ? std::uint64_t{1} << choices_.below(64) : device_page * choices_.below(2);
  if (word == "dev") return hostile() ? choices_.pick(extremes) : choices_.below(2);
  // No valid grid is large, since nothing ends a long launch.
  if (word == "grid_x")
    return hostile() ? (choices_.one_in(2) ? ~0u : 1u << 31) : choices_.below(5);
  if (word == "grid_y")
    return hostile() ? (choices_.one_in(2) ? ~0u : 1u << 16) : 1 + choices_.below(8) / 7;
  if (word == "packed_location")
    return (std::uint64_t{choices_.below(2)} << 32) | (hostile() ? choices_.below(9) : 1);
  if (word == "fewer") return choices_.one_in(8) ? choices_.below(length_ + 1) : length_;
  if (word == "planned") return planned_ = 1 + choices_.below(3);
  if (word == "cap") return 16 - (choices_.one_in(4) ? choices_.below(17) : 0);
  if (word == "waitable") return hostile() ? choices_.below(2) : address_of(around_.waitable);
  if (word == "register") {
    const std::uint64_t at =
        address_of(around_.host.base()) + std::uint64_t{4096} * choices_.below(128);
    began_.emplace_back(Kind::registered, at);
    return at;
  }
  if (word == "map") {
    const std::uint64_t at = handle(Kind::reserved);
    began_.emplace_back(Kind::range, at);
    return at;
  }
  if (word == "sizes" || word == "numbers") {
    std::uint64_t list[8];
    for (auto& each : list) each = number(200);
    return cells({list[0], list[1], list[2], list[3], list[4], list[5], list[6], list[7]});
  }
  if (word == "ones") return cells({~0ull / 0xffffffff, ~0ull / 0xffffffff, ~0ull / 0xffffffff});
  if (word == "zeros") return cells({0});
  if (word == "params") {
    if (hostile() && choices_.one_in(8)) return 0;
    const auto one = [&] {
      return cell(hostile() && choices_.one_in(8) ? device_address() : usable_address());
    };
    return cells({one(), one(), one(), one()});
  }
  if (word == "extra") {
    if (!choices_.one_in(16)) return 0;
    const std::uint64_t arguments = cells({usable_address(), usable_address()});
    return cells({1, arguments, 2, cell(number(17)), 0});
  }
  if (word == "jit_count") return jit_count = choices_.below(4);
  if (word == "jit_options") {
    static constexpr int known[] = {3, 4, 5, 6, 7, 11, 12, 0, 99};
    std::byte* const list = block(4 * sizeof(int));
    for (int& each : jit_options) each = choices_.pick(known);
    std::memcpy(list, jit_options, sizeof jit_options);
    return address_of(list);
  }
  if (word == "jit_values") {
    auto* const made = new JitBuffers;
    for (std::size_t i = 0; i < 4; ++i)
      made->values[i] = jit_options[i] == 3 || jit_options[i] == 5
                            ? static_cast<void*>(made->text)
                            : reinterpret_cast<void*>(std::uint64_t{choices_.below(4096)});
    return address_of(made->values);
  }
  return handle(kind_named(word));
}

}  // namespace inflight::fuzz
