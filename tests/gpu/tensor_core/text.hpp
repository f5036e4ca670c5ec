// The PTX of a kernel that runs one form on registers, or matrices, from memory.
#pragma once
#include "forms.hpp"

namespace text {

inline std::string number(int n) { return std::to_string(n); }

// `{%d0, %d1}`. Pairs of words use 64-bit registers.
inline std::string list(const char* name, int words, Format f) {
  const int count = f == Format::f64 ? words / 2 : words;
  std::string s = "{";
  for (int i = 0; i < count; ++i) s += (i ? ", %" : "%") + std::string(name) + number(i);
  return s + "}";
}

inline std::string registers(const char* name, int words, Format f) {
  if (!words) return "";
  const bool wide = f == Format::f64;
  return std::string("  .reg ") + (wide ? ".b64 %" : ".b32 %") + name + "<" +
         number(wide ? words / 2 : words) + ">;\n";
}

// Moves a lane's words, `stride` bytes apart from `at` on. %in or %out is the lane's own address.
inline std::string move(bool load, const char* name, int words, Format f, int at, int stride) {
  const bool wide = f == Format::f64;
  std::string s;
  for (int i = 0; i < words; i += wide ? 2 : 1) {
    const std::string reg = std::string("%") + name + number(wide ? i / 2 : i);
    const auto place = [&](int w) { return number((at + w) * stride); };
    if (!wide && load) s += "  ld.global.b32 " + reg + ", [%in+" + place(i) + "];\n";
    if (!wide && !load) s += "  st.global.b32 [%out+" + place(i) + "], " + reg + ";\n";
    if (wide && load)
      s += "  ld.global.b32 %lo, [%in+" + place(i) + "];\n  ld.global.b32 %hi, [%in+" +
           place(i + 1) + "];\n  mov.b64 " + reg + ", {%lo, %hi};\n";
    if (wide && !load)
      s += "  mov.b64 {%lo, %hi}, " + reg + ";\n  st.global.b32 [%out+" + place(i) +
           "], %lo;\n  st.global.b32 [%out+" + place(i + 1) + "], %hi;\n";
  }
  return s;
}

inline std::string begin(const char* more = "") {
  return std::string(".version 8.7\n.target sm_90a\n.address_size 64\n") + more +
         ".visible .entry form(.param .u64 from, .param .u64 to, .param .u32 in_bytes, "
         ".param .u32 out_bytes, .param .u64 pool) {\n"
         "  .reg .b32 %lo, %hi, %lane, %block, %size, %meta;\n"
         "  .reg .b64 %in, %out, %step;\n  .reg .pred %p;\n";
}

// Computes %in and %out for this block. A lane's input begins at `lane_bytes` times its number.
inline std::string places(int lane_bytes) {
  std::string s =
      "  mov.u32 %lane, %tid.x;\n  mov.u32 %block, %ctaid.x;\n"
      "  ld.param.u64 %in, [from];\n  ld.param.u32 %size, [in_bytes];\n"
      "  mul.wide.u32 %step, %block, %size;\n  add.s64 %in, %in, %step;\n"
      "  ld.param.u64 %out, [to];\n  ld.param.u32 %size, [out_bytes];\n"
      "  mul.wide.u32 %step, %block, %size;\n  add.s64 %out, %out, %step;\n";
  if (lane_bytes)
    s += "  mul.wide.u32 %step, %lane, " + number(lane_bytes) +
         ";\n  add.s64 %in, %in, %step;\n  add.s64 %out, %out, %step;\n";
  return s;
}

inline std::string mma(const Form& f) {
  const int b_at = f.a_words, c_at = b_at + f.b_words, meta_at = c_at + f.c_words;
  std::string s = begin() + registers("a", f.a_words, f.a) + registers("b", f.b_words, f.b) +
                  registers("c", f.c_words, f.c) + registers("d", f.d_words, f.d) + places(4) +
                  move(true, "a", f.a_words, f.a, 0, 128) +
                  move(true, "b", f.b_words, f.b, b_at, 128) +
                  move(true, "c", f.c_words, f.c, c_at, 128);
  if (f.sparse) s += "  ld.global.b32 %meta, [%in+" + number(meta_at * 128) + "];\n";
  s += "  " + f.instruction + " " + list("d", f.d_words, f.d) + ", " + list("a", f.a_words, f.a) +
       ", " + list("b", f.b_words, f.b) + ", " + list("c", f.c_words, f.c);
  if (f.sparse) s += ", %meta, " + number(f.selector);
  return s + ";\n" + move(false, "d", f.d_words, f.d, 0, 128) + "  ret;\n}\n";
}

inline std::string wmma(const Form& f) {
  const auto lane_words = [&](int words, Format x) { return x == Format::f16 ? 8 : words / 32; };
  const int a = lane_words(f.a_words, f.a), b = lane_words(f.b_words, f.b), c = f.c_words / 32,
            d = f.d_words / 32;
  const auto load = [&](const char* which, const std::string& layout, int words, Format x, int at,
                        const std::string& type, int stride) {
    return std::string("  wmma.load.") + which + ".sync.aligned." + layout + "." + f.shape +
           ".global." + type + " " + list(which, words, x) + ", [%in+" + number(at * 4) + "], " +
           number(stride) + ";\n";
  };
  std::string s = begin() + registers("a", a, f.a) + registers("b", b, f.b) +
                  registers("c", c, f.c) + registers("d", d, f.d) + places(0);
  s += load("a", f.a_layout, a, f.a, 0, f.type_a, f.a_layout == "row" ? f.k : f.m);
  s += load("b", f.b_layout, b, f.b, f.a_words, f.type_b, f.b_layout == "row" ? f.n : f.k);
  s += load("c", "row", c, f.c, f.a_words + f.b_words, f.type_c, f.n);
  s += "  " + f.instruction + " " + list("d", d, f.d) + ", " + list("a", a, f.a) + ", " +
       list("b", b, f.b) + ", " + list("c", c, f.c) + ";\n";
  s += "  wmma.store.d.sync.aligned.row." + f.shape + ".global." + f.type_d + " [%out], " +
       list("d", d, f.d) + ", " + number(f.n) + ";\n";
  return s + "  ret;\n}\n";
}

inline constexpr int pool_bytes = 128 * 1024;

// The pool is shared memory. The two descriptors precede the lanes' words and point into it.
inline std::string wgmma(const Form& f) {
  const int c_at = f.a_words, meta_at = c_at + f.c_words;
  std::string s =
      begin(".extern .shared .align 1024 .b8 tile[];\n") +
      "  .reg .b64 %first, %second, %from;\n  .reg .b32 %w0, %w1, %w2, %w3, %at, %base;\n" +
      "  .reg .b32 %four, %eight;\n" + registers("a", f.a_words, f.a) +
      registers("d", f.d_words, f.d) + places(0);
  s += "  ld.param.u64 %from, [pool];\n  mul.wide.u32 %step, %lane, 16;\n"
       "  add.s64 %from, %from, %step;\n  mov.u32 %base, tile;\n  mad.lo.u32 %at, %lane, 16, "
       "%base;\n"
       "  mov.u32 %size, 0;\nagain:\n  ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%from];\n"
       "  st.shared.v4.b32 [%at], {%w0, %w1, %w2, %w3};\n  add.s64 %from, %from, 2048;\n"
       "  add.u32 %at, %at, 2048;\n  add.u32 %size, %size, 2048;\n  setp.lt.u32 %p, %size, " +
       number(pool_bytes) +
       ";\n  @%p bra again;\n  fence.proxy.async.shared::cta;\n  bar.sync 0;\n";
  s += "  ld.global.b64 %first, [%in];\n  ld.global.b64 %second, [%in+8];\n"
       "  shr.u32 %base, %base, 4;\n  cvt.u64.u32 %step, %base;\n"
       "  add.s64 %first, %first, %step;\n  add.s64 %second, %second, %step;\n"
       "  mul.wide.u32 %step, %lane, 4;\n  add.s64 %in, %in, %step;\n  add.s64 %in, %in, 16;\n"
       "  add.s64 %out, %out, %step;\n";
  s += move(true, "a", f.a_words, f.a, 0, 512) + move(true, "d", f.c_words, f.c, c_at, 512);
  if (f.sparse) s += "  ld.global.b32 %meta, [%in+" + number(meta_at * 512) + "];\n";
  s += std::string("  setp.ne.b32 %p, ") + (f.scale_d ? "1" : "0") + ", 0;\n";
  s += "  wgmma.fence.sync.aligned;\n  " + f.instruction + " " + list("d", f.d_words, f.d) + ", " +
       (f.a_in_registers ? list("a", 4, f.a) : "%first") + ", %second";
  if (f.sparse) s += ", %meta, " + number(f.selector);
  s += ", %p" + f.immediates + ";\n";
  s += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  return s + move(false, "d", f.d_words, f.d, 0, 512) + "  ret;\n}\n";
}

inline std::string of(const Form& f) {
  return f.kind == Kind::mma ? mma(f) : f.kind == Kind::wmma ? wmma(f) : wgmma(f);
}

}  // namespace text
