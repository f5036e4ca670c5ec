// Writes kernels that call CUDA's device runtime.
#include "tests/fuzz/device_calls.hpp"

#include <fmt/format.h>

#include <string_view>

namespace inflight::fuzz {
namespace {

// Arguments, in letters:
//   a address, z bytes, w width, r rows or slices, p pitch, v value, k cudaMemcpyKind, f flags
//   s stream, e event, b buffer, n node, u count; c kernel, o where to write
//   P cudaPitchedPtr, X cudaExtent, D dim3, M cudaMemcpy3DParms*, U cudaGraphKernelNodeUpdate*
// A result of 8 bytes is a buffer.
struct Row {
  std::string_view name, arguments;
  unsigned result = 4;
};
constexpr Row rows[] = {
    {"__cudaCDP2MemcpyAsync", "aazks"},
    {"__cudaCDP2MemcpyAsync_ptsz", "aazks"},
    {"__cudaCDP2Memcpy2DAsync", "apapwrks"},
    {"__cudaCDP2Memcpy2DAsync_ptsz", "apapwrks"},
    {"__cudaCDP2Memcpy3DAsync", "Ms"},
    {"__cudaCDP2Memcpy3DAsync", "Ms"},
    {"__cudaCDP2MemsetAsync", "avzs"},
    {"__cudaCDP2Memset2DAsync", "apvwrs"},
    {"__cudaCDP2Memset2DAsync_ptsz", "apvwrs"},
    {"__cudaCDP2Memset3DAsync", "PvXs"},
    {"__cudaCDP2Memset3DAsync_ptsz", "PvXs"},
    {"__cudaCDP2GetParameterBuffer", "az", 8},
    {"__cudaCDP2GetParameterBufferV2", "cDDf", 8},
    {"__cudaCDP2LaunchDevice", "cbDDfs"},
    {"__cudaCDP2LaunchDeviceV2", "bs"},
    {"__cudaCDP2LaunchDeviceV2_ptsz", "bs"},
    {"__cudaCDP2StreamCreateWithFlags", "of"},
    {"__cudaCDP2StreamDestroy", "s"},
    {"__cudaCDP2StreamWaitEvent", "sef"},
    {"__cudaCDP2EventCreateWithFlags", "of"},
    {"__cudaCDP2EventDestroy", "e"},
    {"__cudaCDP2EventRecord", "es"},
    {"__cudaCDP2EventRecordWithFlags", "esf"},
    {"__cudaCDP2GetLastError", ""},
    {"__cudaCDP2GetErrorString", "v", 8},
    {"__cudaCDP2GetDevice", "o"},
    {"__cudaCDP2DeviceGetAttribute", "ovv"},
    {"__cudaCDP2DeviceGetLimit", "ov"},
    {"__cudaCDP2FuncGetAttributes", "oc"},
    {"__cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor", "ocvz"},
    {"__cudaCDP2Malloc", "oz"},
    {"__cudaCDP2Free", "b"},
    {"cudaGraphLaunch", "ns"},
    {"cudaGraphKernelNodeSetParam", "nzaz"},
    {"cudaGraphKernelNodeSetEnabled", "nv"},
    {"cudaGraphKernelNodeSetGridDim", "nD"},
    {"cudaGraphKernelNodeUpdatesApply", "Uu"},
};

constexpr std::uint32_t slots = 8, slots_at = 0, structures_at = 1024;

// The numbers that break sums: their multiples come back to where they began.
constexpr std::uint64_t edges[] = {
    0,          1,          2,          3,          1ull << 31, ~0u,   1ull << 32, 1ull << 44,
    1ull << 51, 1ull << 60, 1ull << 61, 1ull << 62, 1ull << 63, ~0ull, ~0ull - 15, ~0ull - 4095};

class CallWriter {
 public:
  CallWriter(Choices& choices, const GuardedDevice& device) : choices_(choices), device_(device) {}

  std::string text() {
    std::string declarations, body;
    for (std::uint32_t n = 1 + choices_.below(6); n--;) body += call(choices_.pick(rows), n);
    for (const Row& row : rows) {
      if (body.find(fmt::format(" {},", row.name)) == body.npos ||
          declarations.find(fmt::format(" {}(", row.name)) != declarations.npos)
        continue;
      declarations += fmt::format(".extern .func (.param .b{} r) {}({});\n", row.result * 8,
                                  row.name, parameters(row, false));
    }
    static constexpr std::uint32_t times[] = {1, 1, 1, 2, 40, 3000};
    return fmt::format(
        ".version 8.7\n.target sm_90\n.address_size 64\n{}"
        ".visible .entry child(.param .u64 a, .param .u64 b) {{ ret; }}\n"
        ".visible .entry k() {{\n"
        "  .reg .b64 %x<4>;\n  .reg .b32 %r<4>;\n  .reg .pred %p;\n  mov.u32 %r3, 0;\nAGAIN:\n{}"
        "  add.u32 %r3, %r3, 1;\n  setp.lt.u32 %p, %r3, {};\n  @%p bra AGAIN;\n  ret;\n}}\n",
        declarations, body, choices_.pick(times));
  }

 private:
  static std::string_view type_of(char letter) {
    switch (letter) {
      case 'v':
      case 'k':
      case 'f':
        return ".b32";
      case 'P':
        return ".align 8 .b8 32";
      case 'X':
        return ".align 8 .b8 24";
      case 'D':
        return ".align 4 .b8 12";
      default:
        return ".b64";
    }
  }
  static std::string parameter(char letter, unsigned i) {
    const std::string_view type = type_of(letter);
    const std::size_t size = type.rfind(' ');
    if (size == type.npos) return fmt::format(".param {} p{}", type, i);
    return fmt::format(".param {} p{}[{}]", type.substr(0, size), i, type.substr(size + 1));
  }
  static std::string parameters(const Row& row, bool as_statements) {
    std::string text;
    unsigned i = 0;
    for (const char letter : row.arguments) {
      if (i && !as_statements) text += ", ";
      text += parameter(letter, i++) + (as_statements ? "; " : "");
    }
    return text;
  }

  std::string call(const Row& row, std::uint32_t result_slot) {
    std::string text =
        "  {\n  " + parameters(row, true) + fmt::format(".param .b{} r;\n", row.result * 8);
    std::string names;
    unsigned i = 0;
    for (const char letter : row.arguments) {
      text += argument(letter, i);
      names += fmt::format("{}p{}", i ? ", " : "", i);
      ++i;
    }
    text += fmt::format("  call.uni (r), {}, ({});\n", row.name, names);
    if (row.result == 8)
      text += fmt::format("  ld.param.b64 %x0, [r];\n{}", store(slot_address(result_slot)));
    return text + "  }\n";
  }

  std::string argument(char letter, unsigned i) {
    if (letter == 'P')
      return put(i, 0, address()) + put(i, 8, pitch()) + put(i, 16, number(40)) +
             put(i, 24, number(5));
    if (letter == 'X') return put(i, 0, width()) + put(i, 8, number(5)) + put(i, 16, number(4));
    if (letter == 'D') {
      std::string text;
      for (unsigned word = 0; word < 3; ++word)
        text += fmt::format(
            "  st.param.b32 [p{} + {}], {};\n", i, word * 4,
            choices_.one_in(12) ? choices_.pick(extremes) & 0xffffffff : 1 + choices_.below(2));
      return text;
    }
    if (letter == 'M') return copy_box() + put(i, 0, device_.large.base + structures_at);
    if (letter == 'U') return updates() + put(i, 0, device_.large.base + structures_at);
    if (letter == 'c')
      return fmt::format("  mov.u64 %x0, {};\n  st.param.b64 [p{}], %x0;\n",
                         choices_.one_in(6) ? std::string("0x123456") : std::string("child"), i);
    if (type_of(letter) == ".b32")
      return fmt::format("  st.param.b32 [p{}], {};\n", i, small(letter));
    const bool handle = std::string_view("sebn").find(letter) != std::string_view::npos;
    if (handle && !choices_.one_in(3))
      return fmt::format(
          "  mov.u64 %x1, {};\n  ld.global.b64 %x0, [%x1];\n  st.param.b64 [p{}], %x0;\n",
          slot_address(choices_.below(slots)), i);
    return put(i, 0, large(letter));
  }

  std::uint32_t small(char letter) {
    if (letter == 'k') return choices_.one_in(8) ? choices_.below(6) : 3;
    if (letter == 'f') return choices_.one_in(8) ? choices_.below(9) : choices_.below(3);
    // No guard is filled with it.
    return choices_.one_in(8) ? 0x80000000 : 1 + choices_.below(60);
  }
  std::uint64_t large(char letter) {
    switch (letter) {
      case 'a':
        return address();
      case 'z':
      case 'w':
        return width();
      case 'r':
        return number(6);
      case 'p':
        return pitch();
      case 'o':
        return choices_.one_in(8) ? address() : slot_address(choices_.below(slots));
      case 's':
        return choices_.one_in(8) ? choices_.pick(edges) : choices_.below(5);
      case 'u':
        return choices_.one_in(4) ? choices_.pick(edges) : choices_.below(5);
      default:
        return choices_.pick(edges);
    }
  }

  std::uint64_t slot_address(std::uint32_t slot) const {
    return device_.large.base + slots_at + std::uint64_t{8} * (slot % slots);
  }
  std::uint64_t address() {
    if (choices_.one_in(5)) return device_.hostile_address(choices_);
    const auto piece = choices_.pick(device_.pieces());
    return piece.base + (choices_.one_in(2) ? 0 : choices_.below(piece.size));
  }
  std::uint64_t number(std::uint32_t usual) {
    return choices_.one_in(3) ? choices_.pick(edges) : choices_.below(usual);
  }
  std::uint64_t width() {
    return choices_.one_in(6) ? choices_.pick(edges) : 1 + choices_.below(40);
  }
  // Also the way from one piece to another, or to memory that is nobody's, forwards and backwards.
  std::uint64_t pitch() {
    static constexpr std::uint64_t usual[] = {16, 32, 64, 256};
    if (choices_.one_in(3)) return choices_.pick(usual);
    if (choices_.one_in(2)) return choices_.pick(edges) + choices_.below(3) * 16;
    return address() - address();
  }

  static std::string put(unsigned i, unsigned offset, std::uint64_t value) {
    return fmt::format("  mov.u64 %x0, {:#x};\n  st.param.b64 [p{} + {}], %x0;\n", value, i,
                       offset);
  }
  static std::string store(std::uint64_t at) {
    return fmt::format("  mov.u64 %x1, {:#x};\n  st.global.b64 [%x1], %x0;\n", at);
  }
  std::string structure(std::initializer_list<std::uint64_t> words, std::uint64_t at) const {
    std::string text;
    for (const std::uint64_t word : words)
      text += fmt::format("  mov.u64 %x0, {:#x};\n", word) + store(at), at += 8;
    return text;
  }
  std::string copy_box() {
    const auto n = [&](std::uint32_t usual) { return number(usual); };
    return structure({choices_.one_in(16),
                      n(3),
                      n(3),
                      n(3),
                      address(),
                      pitch(),
                      n(40),
                      n(5),
                      choices_.one_in(16),
                      n(3),
                      n(3),
                      n(3),
                      address(),
                      pitch(),
                      n(40),
                      n(5),
                      width(),
                      n(5),
                      n(4),
                      choices_.one_in(8) ? n(6) : 3},
                     device_.large.base + structures_at);
  }
  std::string updates() {
    std::string text;
    for (std::uint32_t i = 0; i < 4; ++i)
      text += structure({choices_.pick(edges), choices_.below(5), address(), number(64), width()},
                        device_.large.base + structures_at + i * 40);
    return text;
  }

  Choices& choices_;
  const GuardedDevice& device_;
};

}  // namespace

std::string kernel_of_calls(Choices& choices, const GuardedDevice& device) {
  return CallWriter(choices, device).text();
}

}  // namespace inflight::fuzz
