// The forms of wgmma.mma_async: types, widths, operands in registers, swizzles, signs and
// transposes (PTX ISA, "Asynchronous warpgroup level matrix instructions").
#pragma once
#include "forms.hpp"

namespace wgmma_forms {

struct Types {
  const char* spelled;
  Format a, b, d;
  int k;
  bool transposes, signs;  // takes imm-trans, imm-scale
};

inline const std::vector<Types>& types() {
  using F = Format;
  static const std::vector<Types> all{
      {"f16.f16.f16", F::f16, F::f16, F::f16, 16, true, true},
      {"f32.f16.f16", F::f16, F::f16, F::f32, 16, true, true},
      {"f32.bf16.bf16", F::bf16, F::bf16, F::f32, 16, true, true},
      {"f32.tf32.tf32", F::tf32, F::tf32, F::f32, 8, false, true},
      {"f16.e4m3.e4m3", F::e4m3, F::e4m3, F::f16, 32, false, true},
      {"f16.e4m3.e5m2", F::e4m3, F::e5m2, F::f16, 32, false, true},
      {"f16.e5m2.e4m3", F::e5m2, F::e4m3, F::f16, 32, false, true},
      {"f16.e5m2.e5m2", F::e5m2, F::e5m2, F::f16, 32, false, true},
      {"f32.e4m3.e4m3", F::e4m3, F::e4m3, F::f32, 32, false, true},
      {"f32.e4m3.e5m2", F::e4m3, F::e5m2, F::f32, 32, false, true},
      {"f32.e5m2.e4m3", F::e5m2, F::e4m3, F::f32, 32, false, true},
      {"f32.e5m2.e5m2", F::e5m2, F::e5m2, F::f32, 32, false, true},
      {"s32.s8.s8", F::integer, F::integer, F::s32, 32, false, false},
      {"s32.s8.u8", F::integer, F::integer, F::s32, 32, false, false},
      {"s32.u8.s8", F::integer, F::integer, F::s32, 32, false, false},
      {"s32.u8.u8", F::integer, F::integer, F::s32, 32, false, false},
      {"s32.b1.b1.and.popc", F::bit, F::bit, F::s32, 256, false, false}};
  return all;
}

struct Choice {
  int n = 64;
  bool sparse = false, registers = false, saturates = false, scale_d = true, anywhere = false;
  int swizzle = 1, selector = 0;
  const char* signs = "1, 1";
  const char* transposes = "0, 0";  // RS forms take only the second
};

inline void add(std::vector<Form>& to, const Types& t, const Choice& c) {
  Form f{Kind::wgmma, "", "", t.a, t.b, t.d, t.d};
  const int k = t.k * (c.sparse ? 2 : 1);
  f.instruction = std::string("wgmma.mma_async") + (c.sparse ? ".sp" : "") + ".sync.aligned.m64n" +
                  std::to_string(c.n) + "k" + std::to_string(k) +
                  (c.saturates ? ".satfinite" : "") + "." + t.spelled;
  if (t.signs) f.immediates = std::string(", ") + c.signs;
  if (t.transposes)
    f.immediates += std::string(", ") + (c.registers ? c.transposes + 3 : c.transposes);
  f.sparse = c.sparse, f.halves = t.a == Format::tf32, f.selector = c.selector;
  f.a_in_registers = c.registers, f.scale_d = c.scale_d;
  f.swizzle = c.swizzle, f.anywhere = c.anywhere;
  f.m = 64, f.n = c.n, f.k = k;
  f.a_words = c.registers ? 4 : 0, f.b_words = 0;
  f.c_words = f.d_words = t.d == Format::f16 ? c.n / 4 : c.n / 2;
  f.name = f.instruction + (c.registers ? "/rs" : "/ss") + "/swizzle" + std::to_string(c.swizzle) +
           (c.anywhere ? "/anywhere" : "") + (c.scale_d ? "" : "/zero") +
           (c.sparse ? "/" + std::to_string(c.selector) : "");
  std::string tail = f.immediates;
  for (char& ch : tail)
    if (ch == ' ' || ch == ',') ch = '_';
  if (!tail.empty()) f.name += "/" + tail;
  to.push_back(f);
}

inline void all(std::vector<Form>& to) {
  for (const Types& t : types()) {
    for (const bool sparse : {false, true}) {
      if (sparse && t.a == Format::bit) continue;
      Choice c;
      c.sparse = sparse;
      add(to, t, c);
      c.registers = true;
      add(to, t, c);
      c.registers = false, c.n = 8;
      add(to, t, c);
      c.n = 64, c.scale_d = false;
      add(to, t, c);
      c.scale_d = true;
      for (const int swizzle : {0, 2, 3}) c.swizzle = swizzle, add(to, t, c);
      c.swizzle = 1, c.anywhere = true;
      add(to, t, c);
      c.anywhere = false;
      for (const char* signs : {"-1, 1", "1, -1", "-1, -1"})
        if (t.signs) c.signs = signs, add(to, t, c);
      c.signs = "1, 1";
      if (sparse) c.selector = 1, add(to, t, c), c.registers = true, add(to, t, c);
      c.selector = 0, c.registers = false;
      if (t.a == Format::integer) c.saturates = true, add(to, t, c), c.saturates = false;
      if (t.transposes)
        for (const char* transposes : {"1, 0", "0, 1", "1, 1"})
          for (const int swizzle : {0, 1, 2, 3})
            for (const int n : {8, 64, 256}) {
              c.transposes = transposes, c.swizzle = swizzle, c.n = n;
              add(to, t, c);
            }
    }
  }
  // Every width for one type. b1 and integers have fewer.
  for (int n = 8; n <= 256; n += 8) {
    Choice c;
    c.n = n;
    add(to, types()[2], c);
    add(to, types()[12], c);
  }
}

}  // namespace wgmma_forms
