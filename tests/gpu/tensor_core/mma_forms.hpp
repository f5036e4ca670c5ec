// The forms of mma.sync and mma.sp (PTX ISA, "Matrix multiply-accumulate operation using mma").
#pragma once
#include "forms.hpp"

namespace mma_forms {

struct Shape {
  const char* name;
  int a, b, f32;  // words per lane; f32: those of the accumulator in f32 or s32
};

inline void add(std::vector<Form>& to, const std::string& spelled, Format a, Format b, Format acc,
                int words_a, int words_b, int words_c, int words_d, Format d) {
  Form f{Kind::mma, spelled, spelled, a, b, acc, d, words_a, words_b, words_c, words_d};
  to.push_back(f);
}

inline const char* type_name(Format f) {
  switch (f) {
    case Format::f16:
      return "f16";
    case Format::bf16:
      return "bf16";
    case Format::tf32:
      return "tf32";
    case Format::f64:
      return "f64";
    case Format::e4m3:
      return "e4m3";
    case Format::e5m2:
      return "e5m2";
    default:
      return "f32";
  }
}

inline void dense(std::vector<Form>& to) {
  using F = Format;
  const std::string start = "mma.sync.aligned.";
  // Shapes for Volta's quads.
  for (const char* layouts : {"row.row", "row.col", "col.row", "col.col"})
    for (const char* types : {"f16.f16.f16.f16", "f32.f16.f16.f16", "f32.f16.f16.f32"}) {
      const bool d32 = types[1] == '3', c32 = types[13] == '3';
      add(to, start + "m8n8k4." + layouts + "." + types, F::f16, F::f16, c32 ? F::f32 : F::f16, 2,
          2, c32 ? 8 : 4, d32 ? 8 : 4, d32 ? F::f32 : F::f16);
    }
  for (const Shape& s : {Shape{"m16n8k8", 2, 1, 4}, Shape{"m16n8k16", 4, 2, 4}}) {
    const std::string with = start + s.name + ".row.col.";
    add(to, with + "f16.f16.f16.f16", F::f16, F::f16, F::f16, s.a, s.b, 2, 2, F::f16);
    add(to, with + "f32.f16.f16.f32", F::f16, F::f16, F::f32, s.a, s.b, 4, 4, F::f32);
    add(to, with + "f32.bf16.bf16.f32", F::bf16, F::bf16, F::f32, s.a, s.b, 4, 4, F::f32);
  }
  for (const Shape& s : {Shape{"m16n8k4", 2, 1, 4}, Shape{"m16n8k8", 4, 2, 4}})
    add(to, start + s.name + ".row.col.f32.tf32.tf32.f32", F::tf32, F::tf32, F::f32, s.a, s.b, 4, 4,
        F::f32);
  for (const Shape& s : {Shape{"m8n8k4", 2, 2, 4}, Shape{"m16n8k4", 4, 2, 8},
                         Shape{"m16n8k8", 8, 4, 8}, Shape{"m16n8k16", 16, 8, 8}})
    add(to, start + s.name + ".row.col.f64.f64.f64.f64", F::f64, F::f64, F::f64, s.a, s.b, s.f32,
        s.f32, F::f64);
  for (const Shape& s : {Shape{"m16n8k16", 2, 1, 4}, Shape{"m16n8k32", 4, 2, 4}})
    for (F a : {F::e4m3, F::e5m2})
      for (F b : {F::e4m3, F::e5m2})
        for (F acc : {F::f16, F::f32}) {
          const std::string t = type_name(acc);
          add(to,
              start + s.name + ".row.col." + t + "." + type_name(a) + "." + type_name(b) + "." + t,
              a, b, acc, s.a, s.b, acc == F::f16 ? 2 : 4, acc == F::f16 ? 2 : 4, acc);
        }
  struct Integers {
    Shape shape;
    const char* bits;
  };
  for (const auto& [s, bits] :
       {Integers{{"m8n8k16", 1, 1, 2}, "8"}, Integers{{"m16n8k16", 2, 1, 4}, "8"},
        Integers{{"m16n8k32", 4, 2, 4}, "8"}, Integers{{"m8n8k32", 1, 1, 2}, "4"},
        Integers{{"m16n8k32", 2, 1, 4}, "4"}, Integers{{"m16n8k64", 4, 2, 4}, "4"}})
    for (const std::string a : {"s", "u"})
      for (const std::string b : {"s", "u"})
        for (const char* saturate : {"", ".satfinite"})
          add(to,
              start + s.name + ".row.col" + saturate + ".s32." + a + bits + "." + b + bits + ".s32",
              F::integer, F::integer, F::s32, s.a, s.b, s.f32, s.f32, F::s32);
  for (const Shape& s :
       {Shape{"m8n8k128", 1, 1, 2}, Shape{"m16n8k128", 2, 1, 4}, Shape{"m16n8k256", 4, 2, 4}})
    for (const char* op : {"xor", "and"})
      add(to, start + s.name + ".row.col.s32.b1.b1.s32." + op + ".popc", F::bit, F::bit, F::s32,
          s.a, s.b, s.f32, s.f32, F::s32);
}

inline void sparse(std::vector<Form>& to) {
  using F = Format;
  struct Row {
    const char* shape;
    F a, b, acc;
    const char* types;
    int words_a, words_b, selectors;
    bool halves;
  };
  std::vector<Row> rows{
      {"m16n8k16", F::f16, F::f16, F::f16, "f16.f16.f16.f16", 2, 2, 4, false},
      {"m16n8k16", F::f16, F::f16, F::f32, "f32.f16.f16.f32", 2, 2, 4, false},
      {"m16n8k16", F::bf16, F::bf16, F::f32, "f32.bf16.bf16.f32", 2, 2, 4, false},
      {"m16n8k32", F::f16, F::f16, F::f16, "f16.f16.f16.f16", 4, 4, 2, false},
      {"m16n8k32", F::f16, F::f16, F::f32, "f32.f16.f16.f32", 4, 4, 2, false},
      {"m16n8k32", F::bf16, F::bf16, F::f32, "f32.bf16.bf16.f32", 4, 4, 2, false},
      {"m16n8k8", F::tf32, F::tf32, F::f32, "f32.tf32.tf32.f32", 2, 2, 4, true},
      {"m16n8k16", F::tf32, F::tf32, F::f32, "f32.tf32.tf32.f32", 4, 4, 2, true},
      {"m16n8k64", F::e4m3, F::e4m3, F::f32, "f32.e4m3.e4m3.f32", 4, 4, 1, false},
      {"m16n8k64", F::e4m3, F::e5m2, F::f32, "f32.e4m3.e5m2.f32", 4, 4, 1, false},
      {"m16n8k64", F::e5m2, F::e4m3, F::f32, "f32.e5m2.e4m3.f32", 4, 4, 1, false},
      {"m16n8k64", F::e5m2, F::e5m2, F::f32, "f32.e5m2.e5m2.f32", 4, 4, 1, false},
      {"m16n8k64", F::e4m3, F::e4m3, F::f16, "f16.e4m3.e4m3.f16", 4, 4, 1, false}};
  const auto take = [&](Form f, const std::string& text) {
    f.instruction = f.name = text;
    for (const bool ordered : {false, true})
      for (int s = 0; s < f.selector; ++s) {
        Form one = f;
        one.ordered = ordered;
        one.selector = s;
        if (ordered) one.instruction.replace(4, 2, "sp::ordered_metadata");
        one.name = one.instruction + "/" + std::to_string(s);
        to.push_back(one);
      }
  };
  for (const Row& r : rows) {
    const int words = r.acc == F::f16 ? 2 : 4;
    Form f{Kind::mma, "", "", r.a, r.b, r.acc, r.acc, r.words_a, r.words_b, words, words};
    f.sparse = true, f.halves = r.halves, f.selector = r.selectors;
    take(f, std::string("mma.sp.sync.aligned.") + r.shape + ".row.col." + r.types);
  }
  struct Integers {
    const char* shape;
    const char* bits;
    int words, selectors;
  };
  for (const Integers& r : {Integers{"m16n8k32", "8", 2, 2}, Integers{"m16n8k64", "8", 4, 1},
                            Integers{"m16n8k64", "4", 2, 2}, Integers{"m16n8k128", "4", 4, 1}})
    for (const char* types : {"ss", "su", "us", "uu"})
      for (const char* saturate : {"", ".satfinite"}) {
        Form f{
            Kind::mma, "", "", Format::integer, Format::integer, Format::s32, Format::s32, r.words,
            r.words,   4,  4};
        f.sparse = true, f.selector = r.selectors;
        take(f, std::string("mma.sp.sync.aligned.") + r.shape + ".row.col" + saturate + ".s32." +
                    types[0] + r.bits + "." + types[1] + r.bits + ".s32");
      }
}

}  // namespace mma_forms
