// Compares instructions with host functions: one kernel per form, run over special and
// pseudo-random operands, with every result compared.
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "tests/gpu/arithmetic/inputs.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// `registers` has the destination's letter, then each source's: h 16 bits, r 32, l 64, f f32, d
// f64, p a predicate (true if its cell is not 0). `kinds` selects the sources' values, see
// inputs.hpp.
struct Check {
  std::string text;  // `add.s32`, or code with $0 for the destination, $1, $2, $3 for the sources
  std::string registers, kinds;
  std::function<u64(u64, u64, u64)> expected;
};

inline float f32_of(u64 bits) { return std::bit_cast<float>(static_cast<u32>(bits)); }
inline double f64_of(u64 bits) { return std::bit_cast<double>(bits); }
inline u64 bits_of(float x) { return std::bit_cast<u32>(x); }
inline u64 bits_of(double x) { return std::bit_cast<u64>(x); }

namespace detail {
inline std::string type_of(char letter) {
  switch (letter) {
    case 'h':
      return "b16";
    case 'l':
      return "b64";
    case 'f':
      return "f32";
    case 'd':
      return "f64";
    case 'p':
      return "pred";
    default:
      return "b32";
  }
}
inline std::string code(const Check& c) {
  if (c.text.find('$') != std::string::npos) return c.text;
  std::string s = c.text + " $0";
  for (std::size_t i = 1; i < c.registers.size(); ++i) s += ", $" + std::to_string(i);
  return s + ";";
}
inline std::string kernel(const Check& c, std::size_t index) {
  std::string s = ".visible .entry k" + std::to_string(index) +
                  "(.param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p0) {\n"
                  " .reg .b32 %t, %n; .reg .b64 %at, %offset, %cell;\n"
                  " mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mad.lo.u32 %t, %n, 128, %t;\n"
                  " mul.wide.u32 %offset, %t, 8;\n";
  std::string body = code(c);
  for (std::size_t i = 0; i < c.registers.size(); ++i) {
    const std::string n = std::to_string(i), reg = "%v" + n;
    s += " .reg ." + type_of(c.registers[i]) + " " + reg + ";\n";
    for (std::size_t at; (at = body.find("$" + n)) != std::string::npos;) body.replace(at, 2, reg);
    if (i == 0) continue;
    s += " ld.param.u64 %at, [p" + n + "]; add.u64 %at, %at, %offset;\n";
    if (c.registers[i] == 'p')
      s += " ld.global.u64 %cell, [%at]; setp.ne.u64 " + reg + ", %cell, 0;\n";
    else
      s += " ld.global." + type_of(c.registers[i]) + " " + reg + ", [%at];\n";
  }
  s += " " + body + "\n ld.param.u64 %at, [p0]; add.u64 %at, %at, %offset;\n";
  if (c.registers[0] == 'p')
    s += " selp.b64 %cell, 1, 0, %v0; st.global.u64 [%at], %cell;\n";
  else
    s += " st.global." + type_of(c.registers[0]) + " [%at], %v0;\n";
  return s + " ret;\n}\n";
}
}  // namespace detail

inline void run_checks(const std::vector<Check>& checks) {
  std::string text;
  for (std::size_t i = 0; i < checks.size(); ++i) text += detail::kernel(checks[i], i);
  PtxRunner runner({text});
  ASSERT_TRUE(runner.program) << runner.error;
  u64* device[4];
  for (auto& d : device) d = runner.make<u64>(samples);
  for (std::size_t k = 0; k < checks.size(); ++k) {
    const Check& c = checks[k];
    std::vector<Cell> in[3];
    for (int i = 0; i < 3; ++i) {
      in[i] = cells(c.kinds.c_str(), i);
      std::copy(in[i].begin(), in[i].end(), device[i]);
    }
    std::fill(device[3], device[3] + samples, 0);
    std::vector<std::uint64_t> parameters;
    for (auto* d : device) parameters.push_back(reinterpret_cast<std::uint64_t>(d));
    const Outcome outcome =
        runner.run("k" + std::to_string(k), {samples / 128, 1, 1}, {128, 1, 1}, parameters);
    ASSERT_TRUE(outcome.ok()) << c.text << ": " << outcome.report;
    int wrong = 0;
    for (int i = 0; i < samples && wrong < 3; ++i) {
      const u64 expected = c.expected(in[0][i], in[1][i], in[2][i]);
      if (device[3][i] == expected) continue;
      ++wrong;
      ADD_FAILURE() << std::hex << c.text << " of " << in[0][i] << ", " << in[1][i] << ", "
                    << in[2][i] << " is " << device[3][i] << ", not " << expected;
    }
  }
}

}  // namespace inflight::machine
