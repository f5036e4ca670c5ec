// The instructions that read textures, one kernel each.
#pragma once
#include <cuda_runtime.h>

#include "coordinates.hpp"

namespace texture_truth {

using Kernel = void (*)(cudaTextureObject_t, const Point*, uint4*);

// Operands: %4 the texture, %5 to %7 coordinates, %8 the layer, %9 the level, %10 to %15 gradients,
// %16 to %18 integer coordinates.
#define TEXTURE_READ(name, code)                                                                 \
  static __global__ void name(cudaTextureObject_t t, const Point* points, uint4* out) {          \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);                       \
    const Point p = points[i];                                                                   \
    uint4 v = {0, 0, 0, 0};                                                                      \
    asm volatile(code                                                                            \
                 : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)                                    \
                 : "l"(t), "f"(p.at[0]), "f"(p.at[1]), "f"(p.at[2]), "r"(p.layer), "f"(p.level), \
                   "f"(p.dx[0]), "f"(p.dx[1]), "f"(p.dx[2]), "f"(p.dy[0]), "f"(p.dy[1]),         \
                   "f"(p.dy[2]), "r"(p.texel[0]), "r"(p.texel[1]), "r"(p.texel[2]));             \
    out[i] = v;                                                                                  \
  }
#define TEXTURE_RESULT "{%0, %1, %2, %3}, "
#define TEXTURE_AT_line "[%4, {%5}]"
#define TEXTURE_AT_plane "[%4, {%5, %6}]"
#define TEXTURE_AT_volume "[%4, {%5, %6, %7, %7}]"
#define TEXTURE_AT_lines "[%4, {%8, %5}]"
#define TEXTURE_AT_planes "[%4, {%8, %5, %6, %6}]"
#define TEXTURE_AT_cube "[%4, {%5, %6, %7, %7}]"
#define TEXTURE_AT_cubes "[%4, {%8, %5, %6, %7}]"
#define TEXTURE_GRAD_1 ", {%10}, {%13}"
#define TEXTURE_GRAD_2 ", {%10, %11}, {%13, %14}"
#define TEXTURE_GRAD_3 ", {%10, %11, %12, %12}, {%13, %14, %15, %15}"

#define TEXTURE_LEVELS(shape, geometry, gradient)                                              \
  TEXTURE_READ(shape##_base_f32,                                                               \
               "tex." geometry ".v4.f32.f32 " TEXTURE_RESULT TEXTURE_AT_##shape ";")           \
  TEXTURE_READ(shape##_base_u32,                                                               \
               "tex." geometry ".v4.u32.f32 " TEXTURE_RESULT TEXTURE_AT_##shape ";")           \
  TEXTURE_READ(shape##_level_f32,                                                              \
               "tex.level." geometry ".v4.f32.f32 " TEXTURE_RESULT TEXTURE_AT_##shape ", %9;") \
  TEXTURE_READ(shape##_grad_f32,                                                               \
               "tex.grad." geometry ".v4.f32.f32 " TEXTURE_RESULT TEXTURE_AT_##shape gradient ";")
TEXTURE_LEVELS(line, "1d", TEXTURE_GRAD_1)
TEXTURE_LEVELS(plane, "2d", TEXTURE_GRAD_2)
TEXTURE_LEVELS(volume, "3d", TEXTURE_GRAD_3)
TEXTURE_LEVELS(lines, "a1d", TEXTURE_GRAD_1)
TEXTURE_LEVELS(planes, "a2d", TEXTURE_GRAD_2)
TEXTURE_LEVELS(cube, "cube", TEXTURE_GRAD_3)
TEXTURE_LEVELS(cubes, "acube", TEXTURE_GRAD_3)

TEXTURE_READ(line_s32, "tex.1d.v4.s32.f32 " TEXTURE_RESULT "[%4, {%5}];")
TEXTURE_READ(plane_s32, "tex.2d.v4.s32.f32 " TEXTURE_RESULT "[%4, {%5, %6}];")
TEXTURE_READ(line_texel_f32, "tex.1d.v4.f32.s32 " TEXTURE_RESULT "[%4, {%16}];")
TEXTURE_READ(line_texel_u32, "tex.1d.v4.u32.s32 " TEXTURE_RESULT "[%4, {%16}];")
TEXTURE_READ(line_texel_s32, "tex.1d.v4.s32.s32 " TEXTURE_RESULT "[%4, {%16}];")
TEXTURE_READ(plane_texel_f32, "tex.2d.v4.f32.s32 " TEXTURE_RESULT "[%4, {%16, %17}];")
TEXTURE_READ(volume_texel_f32, "tex.3d.v4.f32.s32 " TEXTURE_RESULT "[%4, {%16, %17, %18, %18}];")
TEXTURE_READ(lines_texel_f32, "tex.a1d.v4.f32.s32 " TEXTURE_RESULT "[%4, {%8, %16}];")
TEXTURE_READ(planes_texel_f32, "tex.a2d.v4.f32.s32 " TEXTURE_RESULT "[%4, {%8, %16, %17, %17}];")
TEXTURE_READ(plane_offset_f32, "tex.2d.v4.f32.f32 " TEXTURE_RESULT "[%4, {%5, %6}], {%16, %17};")
#define TEXTURE_HALVES(geometry, at)                                 \
  "{ .reg .f16 a, b, c, d; .reg .b16 z; mov.b16 z, 0; tex." geometry \
  ".v4.f16.f32 {a, b, c, d}, " at                                    \
  "; mov.b32 %0, {a, z}; mov.b32 %1, {b, z}; mov.b32 %2, {c, z}; mov.b32 %3, {d, z}; }"
TEXTURE_READ(plane_f16, TEXTURE_HALVES("2d", TEXTURE_AT_plane))

#define TEXTURE_GATHER(component)                                                     \
  TEXTURE_READ(gather_##component##_f32,                                              \
               "tld4." #component ".2d.v4.f32.f32 " TEXTURE_RESULT "[%4, {%5, %6}];") \
  TEXTURE_READ(gather_##component##_u32,                                              \
               "tld4." #component ".2d.v4.u32.f32 " TEXTURE_RESULT "[%4, {%5, %6}];")
TEXTURE_GATHER(r)
TEXTURE_GATHER(g)
TEXTURE_GATHER(b)
TEXTURE_GATHER(a)
TEXTURE_READ(gather_r_planes, "tld4.r.a2d.v4.f32.f32 " TEXTURE_RESULT "[%4, {%8, %5, %6, %6}];")
TEXTURE_READ(gather_r_cube, "tld4.r.cube.v4.f32.f32 " TEXTURE_RESULT "[%4, {%5, %6, %7, %7}];")
TEXTURE_READ(gather_r_cubes, "tld4.r.acube.v4.f32.f32 " TEXTURE_RESULT "[%4, {%8, %5, %6, %7}];")
TEXTURE_READ(gather_r_offset, "tld4.r.2d.v4.f32.f32 " TEXTURE_RESULT "[%4, {%5, %6}], {%16, %17};")

inline Kernel gather_of(const Read& r) {
  if (r.offset) return gather_r_offset;
  if (r.shape == Shape::planes) return gather_r_planes;
  if (r.shape == Shape::cube) return gather_r_cube;
  if (r.shape == Shape::cubes) return gather_r_cubes;
  static const Kernel floats[] = {gather_r_f32, gather_g_f32, gather_b_f32, gather_a_f32};
  static const Kernel integers[] = {gather_r_u32, gather_g_u32, gather_b_u32, gather_a_u32};
  return r.result == Result::f32 ? floats[r.gather] : integers[r.gather];
}

inline Kernel texel_of(const Read& r) {
  if (r.shape == Shape::line && r.result == Result::u32) return line_texel_u32;
  if (r.shape == Shape::line && r.result == Result::s32) return line_texel_s32;
  static const Kernel floats[] = {line_texel_f32, plane_texel_f32, volume_texel_f32,
                                  lines_texel_f32, planes_texel_f32};
  return floats[static_cast<int>(r.shape)];
}

inline Kernel kernel_of(const Read& r) {
#define TEXTURE_KERNELS(shape) \
  { shape##_base_f32, shape##_level_f32, shape##_grad_f32, shape##_base_u32 }
  static const Kernel kernels[][4] = {TEXTURE_KERNELS(line),   TEXTURE_KERNELS(plane),
                                      TEXTURE_KERNELS(volume), TEXTURE_KERNELS(lines),
                                      TEXTURE_KERNELS(planes), TEXTURE_KERNELS(cube),
                                      TEXTURE_KERNELS(cubes)};
#undef TEXTURE_KERNELS
  if (r.gather >= 0) return gather_of(r);
  if (r.integer) return texel_of(r);
  if (r.offset) return plane_offset_f32;
  if (r.result == Result::f16) return plane_f16;
  if (r.result == Result::s32) return r.shape == Shape::line ? line_s32 : plane_s32;
  if (r.result == Result::u32) return kernels[static_cast<int>(r.shape)][3];
  return kernels[static_cast<int>(r.shape)][static_cast<int>(r.level)];
}

}  // namespace texture_truth
