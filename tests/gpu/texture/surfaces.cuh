// The instructions that access surfaces: a kernel each, with one thread and sequential accesses.
// Then the results of queries, and accesses that end a kernel.
#pragma once
#include <cuda_runtime.h>

#include "case.hpp"

namespace texture_truth {

constexpr int accesses = 256;  // per surface case

struct Access {
  int x, y, z, layer;  // x: byte offset of a texel, or its number in formatted accesses
  unsigned value[4];
};

using SurfaceKernel = void (*)(cudaSurfaceObject_t, const Access*, uint4*);

struct SurfaceCase {
  const char* name;
  SurfaceKernel kernel;
  Shape shape;
  Format format;
  int bytes;  // x is a multiple of this; 1: x counts texels
  SurfaceCase* next;
};

struct SurfaceRegistration {
  explicit SurfaceRegistration(SurfaceCase& c) {
    *last() = &c;
    last() = &c.next;
  }
  static SurfaceCase*& first() {
    static SurfaceCase* list = nullptr;
    return list;
  }
  static SurfaceCase**& last() {
    static SurfaceCase** place = &first();
    return place;
  }
};

#define SURFACE_CASE(id, name, shape, kind, bits, channels, bytes, code)                       \
  static __global__ void surface_##id(cudaSurfaceObject_t s, const Access* list, uint4* out) { \
    for (int i = 0; i < accesses; ++i) {                                                       \
      const Access a = list[i];                                                                \
      uint4 v = {0, 0, 0, 0};                                                                  \
      asm volatile("{ .reg .b16 h<4>; .reg .b64 w<2>;\n" code "\n}"                            \
                   : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)                                \
                   : "l"(s), "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.layer), "r"(a.value[0]),      \
                     "r"(a.value[1]), "r"(a.value[2]), "r"(a.value[3])                         \
                   : "memory");                                                                \
      out[i] = v;                                                                              \
    }                                                                                          \
  }                                                                                            \
  static SurfaceCase case_##id = {name,  surface_##id, Shape::shape, {kind, bits, channels},   \
                                  bytes, nullptr};                                             \
  static SurfaceRegistration register_##id(case_##id);

// %4 the surface, %5 to %7 coordinates, %8 the layer, %9 to %12 the values.
#define SURFACE_AT_line "[%4, {%5}]"
#define SURFACE_AT_plane "[%4, {%5, %6}]"
#define SURFACE_AT_volume "[%4, {%5, %6, %7, %7}]"
#define SURFACE_AT_lines "[%4, {%8, %5}]"
#define SURFACE_AT_planes "[%4, {%8, %5, %6, %6}]"
#define SURFACE_NARROW "mov.b32 %0, {h0, h1};"
#define SURFACE_WIDEN "cvt.u16.u32 h0, %9; cvt.u16.u32 h1, %10; cvt.u16.u32 h2, %11; "

#define SURFACE_MODES(id, shape, geometry, mode)                                                \
  SURFACE_CASE(load_##id##_##mode, "suld.b." geometry ".b32." #mode, shape, 'u', 32, 1, 4,      \
               "suld.b." geometry ".b32." #mode " %0, " SURFACE_AT_##shape ";")                 \
  SURFACE_CASE(store_##id##_##mode, "sust.b." geometry ".b32." #mode, shape, 'u', 32, 1, 4,     \
               "sust.b." geometry ".b32." #mode " " SURFACE_AT_##shape ", %9;")                 \
  SURFACE_CASE(formatted_##id##_##mode, "sust.p." geometry ".b32." #mode, shape, 'u', 32, 1, 1, \
               "sust.p." geometry ".b32." #mode " " SURFACE_AT_##shape ", %9;")
#define SURFACE_REDUCE(id, shape, geometry, mode)                                                 \
  SURFACE_CASE(reduce_##id##_##mode, "sured.b.add." geometry ".u32." #mode, shape, 'u', 32, 1, 4, \
               "sured.b.add." geometry ".u32." #mode " " SURFACE_AT_##shape ", %9;")
#define SURFACE_SHAPE(shape, geometry) \
  SURFACE_MODES(shape, shape, geometry, clamp) SURFACE_MODES(shape, shape, geometry, zero)
SURFACE_SHAPE(line, "1d")
SURFACE_SHAPE(plane, "2d")
SURFACE_SHAPE(volume, "3d")
SURFACE_SHAPE(lines, "a1d")
SURFACE_SHAPE(planes, "a2d")
SURFACE_REDUCE(line, line, "1d", clamp)
SURFACE_REDUCE(line, line, "1d", zero)
SURFACE_REDUCE(plane, plane, "2d", clamp)
SURFACE_REDUCE(plane, plane, "2d", zero)
SURFACE_REDUCE(volume, volume, "3d", clamp)
SURFACE_REDUCE(volume, volume, "3d", zero)

#define SURFACE_TYPES(mode)                                                                   \
  SURFACE_CASE(load_b8_##mode, "suld.b.2d.b8." #mode, plane, 'u', 8, 1, 1,                    \
               "mov.b16 h1, 0; suld.b.2d.b8." #mode " h0, [%4, {%5, %6}]; " SURFACE_NARROW)   \
  SURFACE_CASE(load_b16_##mode, "suld.b.2d.b16." #mode, plane, 's', 16, 1, 2,                 \
               "mov.b16 h1, 0; suld.b.2d.b16." #mode " h0, [%4, {%5, %6}]; " SURFACE_NARROW)  \
  SURFACE_CASE(load_b64_##mode, "suld.b.2d.b64." #mode, plane, 'f', 32, 2, 8,                 \
               "suld.b.2d.b64." #mode " w0, [%4, {%5, %6}]; mov.b64 {%0, %1}, w0;")           \
  SURFACE_CASE(load_v2b8_##mode, "suld.b.2d.v2.b8." #mode, plane, 'u', 8, 2, 2,               \
               "suld.b.2d.v2.b8." #mode " {h0, h1}, [%4, {%5, %6}]; " SURFACE_NARROW)         \
  SURFACE_CASE(load_v2b64_##mode, "suld.b.2d.v2.b64." #mode, plane, 'f', 32, 4, 16,           \
               "suld.b.2d.v2.b64." #mode                                                      \
               " {w0, w1}, [%4, {%5, %6}]; mov.b64 {%0, %1}, w0; mov.b64 {%2, %3}, w1;")      \
  SURFACE_CASE(load_v4b16_##mode, "suld.b.2d.v4.b16." #mode, plane, 'f', 16, 4, 8,            \
               "suld.b.2d.v4.b16." #mode " {h0, h1, h2, h3}, [%4, {%5, %6}]; " SURFACE_NARROW \
               " mov.b32 %1, {h2, h3};")                                                      \
  SURFACE_CASE(load_v4b32_##mode, "suld.b.2d.v4.b32." #mode, plane, 'f', 32, 4, 16,           \
               "suld.b.2d.v4.b32." #mode " {%0, %1, %2, %3}, [%4, {%5, %6}];")                \
  SURFACE_CASE(store_b8_##mode, "sust.b.2d.b8." #mode, plane, 'u', 8, 1, 1,                   \
               SURFACE_WIDEN "sust.b.2d.b8." #mode " [%4, {%5, %6}], h0;")                    \
  SURFACE_CASE(store_v2b16_##mode, "sust.b.2d.v2.b16." #mode, plane, 'f', 16, 2, 4,           \
               SURFACE_WIDEN "sust.b.2d.v2.b16." #mode " [%4, {%5, %6}], {h0, h1};")          \
  SURFACE_CASE(store_v4b32_##mode, "sust.b.2d.v4.b32." #mode, plane, 'f', 32, 4, 16,          \
               "sust.b.2d.v4.b32." #mode " [%4, {%5, %6}], {%9, %10, %11, %12};")
SURFACE_TYPES(clamp)
SURFACE_TYPES(zero)

// Accesses of another size than the texel.
SURFACE_CASE(narrow, "suld.b.2d.b8.zero of u32", plane, 'u', 32, 1, 1,
             "mov.b16 h1, 0; suld.b.2d.b8.zero h0, [%4, {%5, %6}]; " SURFACE_NARROW)
SURFACE_CASE(wide, "suld.b.2d.b32.zero of u8", plane, 'u', 8, 1, 4,
             "suld.b.2d.b32.zero %0, [%4, {%5, %6}];")
SURFACE_CASE(wide_store, "sust.b.2d.b32.clamp of u8", plane, 'u', 8, 1, 4,
             "sust.b.2d.b32.clamp [%4, {%5, %6}], %9;")
SURFACE_CASE(narrow_store, "sust.b.2d.b32.clamp of u32x4", plane, 'u', 32, 4, 4,
             "sust.b.2d.b32.clamp [%4, {%5, %6}], %9;")

#define SURFACE_FORMATTED(kind, bits)                                                       \
  SURFACE_CASE(formatted_##kind##bits, "sust.p.2d.v4.b32.zero of " #kind #bits "x4", plane, \
               *#kind, bits, 4, 1, "sust.p.2d.v4.b32.zero [%4, {%5, %6}], {%9, %10, %11, %12};")
SURFACE_FORMATTED(u, 8)
SURFACE_FORMATTED(s, 8)
SURFACE_FORMATTED(u, 16)
SURFACE_FORMATTED(s, 16)
SURFACE_FORMATTED(f, 16)
SURFACE_FORMATTED(u, 32)
SURFACE_FORMATTED(s, 32)
SURFACE_FORMATTED(f, 32)
SURFACE_CASE(formatted_one, "sust.p.2d.b32.zero of f32x4", plane, 'f', 32, 4, 1,
             "sust.p.2d.b32.zero [%4, {%5, %6}], %9;")
SURFACE_CASE(formatted_two, "sust.p.2d.v2.b32.zero of f16x4", plane, 'f', 16, 4, 1,
             "sust.p.2d.v2.b32.zero [%4, {%5, %6}], {%9, %10};")
SURFACE_CASE(formatted_more, "sust.p.2d.v4.b32.zero of u8x1", plane, 'u', 8, 1, 1,
             "sust.p.2d.v4.b32.zero [%4, {%5, %6}], {%9, %10, %11, %12};")

#define SURFACE_REDUCTION(op, type, kind)                                                         \
  SURFACE_CASE(reduce_##op##_##type, "sured.b." #op ".2d." #type ".clamp", plane, kind, 32, 1, 4, \
               "sured.b." #op ".2d." #type ".clamp [%4, {%5, %6}], %9;")
SURFACE_REDUCTION(add, s32, 's')
SURFACE_REDUCTION(min, u32, 'u')
SURFACE_REDUCTION(min, s32, 's')
SURFACE_REDUCTION(max, u32, 'u')
SURFACE_REDUCTION(max, s32, 's')
SURFACE_REDUCTION(and, b32, 'u')
SURFACE_REDUCTION(or, b32, 'u')
SURFACE_CASE(reduce_add_u64, "sured.b.add.2d.u64.clamp", plane, 'u', 32, 2, 8,
             "mov.b64 w0, {%9, %10}; sured.b.add.2d.u64.clamp [%4, {%5, %6}], w0;")
SURFACE_CASE(reduce_formatted, "sured.p.add.2d.b32.clamp of u32", plane, 'u', 32, 1, 1,
             "sured.p.add.2d.b32.clamp [%4, {%5, %6}], %9;")
SURFACE_CASE(reduce_formatted_min, "sured.p.min.2d.b32.clamp of s32", plane, 's', 32, 1, 1,
             "sured.p.min.2d.b32.clamp [%4, {%5, %6}], %9;")

inline std::vector<Access> accesses_of(const SurfaceCase& c, int width, int height, int depth) {
  Random random(99);
  std::vector<Access> list(accesses);
  for (Access& a : list) {
    const int step = c.bytes;
    const int units = step == 1 ? width * (c.name[5] == 'b' ? c.format.bytes() : 1)
                                : width * c.format.bytes() / step;
    const bool inside = random.below(2);
    const auto pick = [&](int size) {
      if (inside) return random.below(size);
      if (random.below(12) == 0) return static_cast<int>(random.bits() & 0x8fffffff);
      return random.below(3 * size) - size;
    };
    a.x = pick(units) * step;
    a.y = pick(height), a.z = pick(depth), a.layer = pick(depth);
    for (unsigned& v : a.value) v = random.bits();
    if (random.below(4) == 0)
      for (unsigned& v : a.value) v = 0x3f000000 + (v & 0x80ffffff);
  }
  return list;
}

}  // namespace texture_truth
