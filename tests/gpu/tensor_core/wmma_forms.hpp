// The forms of wmma: load, multiply, store (PTX ISA, "Matrix multiply-accumulate operation using
// wmma").
#pragma once
#include "forms.hpp"

namespace wmma_forms {

struct Shape {
  int m, n, k;
  std::string name() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  }
};

inline void add(std::vector<Form>& to, Shape s, const std::string& la, const std::string& lb,
                const std::string& behind_shape, Format a, Format b, Format c, Format d,
                const char* ta, const char* tb, const char* tc, const char* td, int bits,
                const std::string& op = "") {
  Form f{Kind::wmma, "", "", a, b, c, d};
  // Loads and stores use `.s32` for accumulators of both signs. The multiply names its types.
  f.instruction =
      "wmma.mma" + op + ".sync.aligned." + la + "." + lb + "." + s.name() + behind_shape;
  f.name = f.instruction;
  f.shape = s.name(), f.a_layout = la, f.b_layout = lb;
  f.type_a = ta, f.type_b = tb, f.type_c = tc, f.type_d = td;
  f.m = s.m, f.n = s.n, f.k = s.k;
  f.a_words = s.m * s.k * bits / 32, f.b_words = s.k * s.n * bits / 32;
  f.c_words = s.m * s.n * layout_of(c).bits / 32, f.d_words = s.m * s.n * layout_of(d).bits / 32;
  to.push_back(f);
}

inline void all(std::vector<Form>& to) {
  using F = Format;
  const Shape sixteens[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
  const std::string layouts[] = {"row", "col"};
  for (const Shape& s : sixteens)
    for (const auto& la : layouts)
      for (const auto& lb : layouts) {
        for (const char* d : {"f16", "f32"})
          for (const char* c : {"f16", "f32"})
            add(to, s, la, lb, std::string(".") + d + "." + c, F::f16, F::f16,
                c[1] == '3' ? F::f32 : F::f16, d[1] == '3' ? F::f32 : F::f16, "f16", "f16", c, d,
                16);
        add(to, s, la, lb, ".f32.bf16.bf16.f32", F::bf16, F::bf16, F::f32, F::f32, "bf16", "bf16",
            "f32", "f32", 16);
        for (const char* t : {"s8", "u8"})
          for (const char* saturate : {"", ".satfinite"})
            add(to, s, la, lb, std::string(".s32.") + t + "." + t + ".s32" + saturate, F::integer,
                F::integer, F::s32, F::s32, t, t, "s32", "s32", 8);
      }
  for (const auto& la : layouts)
    for (const auto& lb : layouts) {
      add(to, {16, 16, 8}, la, lb, ".f32.tf32.tf32.f32", F::tf32, F::tf32, F::f32, F::f32, "tf32",
          "tf32", "f32", "f32", 32);
      for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp"})
        add(to, {8, 8, 4}, la, lb, std::string(rounding) + ".f64.f64.f64.f64", F::f64, F::f64,
            F::f64, F::f64, "f64", "f64", "f64", "f64", 64);
    }
  for (const char* t : {"s4", "u4"})
    for (const char* saturate : {"", ".satfinite"})
      add(to, {8, 8, 32}, "row", "col", std::string(".s32.") + t + "." + t + ".s32" + saturate,
          F::integer, F::integer, F::s32, F::s32, t, t, "s32", "s32", 4);
  for (const char* op : {".xor.popc", ".and.popc"})
    add(to, {8, 8, 128}, "row", "col", ".s32.b1.b1.s32", F::bit, F::bit, F::s32, F::s32, "b1", "b1",
        "s32", "s32", 1, op);
}

}  // namespace wmma_forms
