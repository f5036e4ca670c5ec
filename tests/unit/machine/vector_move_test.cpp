// mov that splits a value into registers and joins them again (PTX ISA, "mov": pack and unpack).
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

// Moves a value of `whole` bits through `count` registers of `part` bits in reverse order. Each
// part is also converted separately, and their sum is last.
std::string reversed(unsigned whole, unsigned part, unsigned count, const std::string& type) {
  const std::string w = std::to_string(whole), p = std::to_string(part);
  std::string registers, opposite, sum;
  for (unsigned i = 0; i < count; ++i) {
    const std::string name = "%t" + std::to_string(i);
    registers += (i ? ", " : "") + name;
    opposite = name + (i ? ", " : "") + opposite;
    sum += "cvt.u64.u" + p + " %rd5, " + name + "; add.s64 %rd4, %rd4, %rd5;\n";
  }
  return kernel_k("{\n.reg ." + type + " %t<4>; .reg .b" + w + " %w;\n" + "ld.global.u" + w +
                  " %w, [%rd1]; mov.u64 %rd4, 0;\n" + "mov.b" + w + " {" + registers + "}, %w;\n" +
                  sum + "mov.b" + w + " %w, {" + opposite + "};\n" + "st.global.u" + w +
                  " [%rd1+8], %w; st.global.u64 [%rd1+16], %rd4;\n}");
}

void expect_reversed(unsigned whole, unsigned part, unsigned count, const std::string& type) {
  SCOPED_TRACE(std::to_string(whole) + " bits in parts of " + std::to_string(part) + " in ." +
               type);
  PtxRunner runner({reversed(whole, part, count, type)});
  auto* memory = runner.make<std::uint8_t>(24);
  const unsigned bytes = part / 8;
  std::uint64_t sum = 0;
  std::vector<std::uint8_t> wanted(whole / 8);
  for (unsigned i = 0; i < whole / 8; ++i) memory[i] = static_cast<std::uint8_t>(0xf1 - 3 * i);
  for (unsigned i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, memory + i * bytes, bytes);
    sum += value;
    std::copy_n(memory + i * bytes, bytes, wanted.data() + (count - 1 - i) * bytes);
  }
  const Outcome outcome =
      runner.run("k", {1, 1, 1}, {1, 1, 1}, {reinterpret_cast<std::uint64_t>(memory)});
  ASSERT_TRUE(outcome.ok()) << outcome.report;
  EXPECT_EQ(std::vector<std::uint8_t>(memory + 8, memory + 8 + whole / 8), wanted);
  std::uint64_t found = 0;
  std::memcpy(&found, memory + 16, sizeof found);
  EXPECT_EQ(found, sum);
}

TEST(VectorMove, PartsGoThroughRegistersOfTheirWidth) {
  expect_reversed(16, 8, 2, "b8");
  expect_reversed(32, 8, 4, "b8");
  expect_reversed(32, 16, 2, "b16");
  expect_reversed(64, 16, 4, "b16");
  expect_reversed(64, 32, 2, "b32");
}

TEST(VectorMove, PartsGoThroughWiderRegisters) {
  expect_reversed(16, 8, 2, "b16");
  expect_reversed(32, 8, 4, "b32");
  expect_reversed(32, 16, 2, "b32");
  expect_reversed(64, 16, 4, "b64");
  expect_reversed(64, 32, 2, "b64");
}

}  // namespace
}  // namespace inflight::machine
