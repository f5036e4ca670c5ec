// PTX's fundamental types, state spaces and special registers (PTX ISA 5.1, 5.2, 10).
#pragma once
#include <cstdint>
#include <string_view>

namespace inflight::ptx {

// X(name, size in bytes, spelling without the dot)
// clang-format off
#define INFLIGHT_PTX_TYPES(X)                                                                    \
  X(pred, 0, "pred") X(b8, 1, "b8") X(b16, 2, "b16") X(b32, 4, "b32") X(b64, 8, "b64")           \
  X(b128, 16, "b128") X(b1024, 128, "b1024") X(u8, 1, "u8") X(u16, 2, "u16") X(u32, 4, "u32")    \
  X(u64, 8, "u64") X(s8, 1, "s8") X(s16, 2, "s16") X(s32, 4, "s32") X(s64, 8, "s64")             \
  X(f16, 2, "f16") X(f16x2, 4, "f16x2") X(bf16, 2, "bf16") X(bf16x2, 4, "bf16x2")                \
  X(tf32, 4, "tf32") X(f32, 4, "f32") X(f32x2, 8, "f32x2") X(f64, 8, "f64")                      \
  X(u16x2, 4, "u16x2") X(s16x2, 4, "s16x2") X(e4m3, 1, "e4m3") X(e5m2, 1, "e5m2")                \
  X(e4m3x2, 2, "e4m3x2") X(e5m2x2, 2, "e5m2x2") X(e2m1x2, 1, "e2m1x2") X(e2m3x2, 2, "e2m3x2")    \
  X(e3m2x2, 2, "e3m2x2") X(ue8m0x2, 2, "ue8m0x2") X(e2m1, 1, "e2m1") X(e2m3, 1, "e2m3")          \
  X(e3m2, 1, "e3m2") X(b4, 1, "b4") X(u4, 1, "u4") X(s4, 1, "s4") X(b1, 1, "b1")                 \
  X(e4m3x4, 4, "e4m3x4") X(e5m2x4, 4, "e5m2x4") X(e2m1x4, 2, "e2m1x4") X(e2m3x4, 4, "e2m3x4")    \
  X(e3m2x4, 4, "e3m2x4") X(u2, 1, "u2") X(s2, 1, "s2") X(texref, 8, "texref")                    \
  X(samplerref, 8, "samplerref") X(surfref, 8, "surfref")
// clang-format on

enum class Type : std::uint8_t {
  none,
#define X(name, size, text) name,
  INFLIGHT_PTX_TYPES(X)
#undef X
};

constexpr unsigned size_of(Type type) {
  constexpr unsigned sizes[] = {0,
#define X(name, size, text) size,
                                INFLIGHT_PTX_TYPES(X)
#undef X
  };
  return sizes[static_cast<unsigned>(type)];
}

constexpr std::string_view spelling(Type type) {
  constexpr std::string_view texts[] = {"",
#define X(name, size, text) text,
                                        INFLIGHT_PTX_TYPES(X)
#undef X
  };
  return texts[static_cast<unsigned>(type)];
}

constexpr bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
constexpr bool is_float(Type t) {
  return t == Type::f16 || t == Type::f16x2 || t == Type::bf16 || t == Type::bf16x2 ||
         t == Type::tf32 || t == Type::f32 || t == Type::f32x2 || t == Type::f64;
}

// `shared` and `shared_cta` both mean the executing block's window; the parser keeps the spelling.
enum class Space : std::uint8_t {
  generic,
  reg,
  sreg,
  constant,
  global,
  local,
  param,
  param_entry,
  param_func,
  shared,
  shared_cta,
  shared_cluster,
  tex,
};

constexpr bool is_shared(Space space) {
  return space == Space::shared || space == Space::shared_cta || space == Space::shared_cluster;
}

// X(name, spelling with the %)
// clang-format off
#define INFLIGHT_PTX_SPECIALS(X)                                                                 \
  X(tid_x, "%tid.x") X(tid_y, "%tid.y") X(tid_z, "%tid.z") X(ntid_x, "%ntid.x")                  \
  X(ntid_y, "%ntid.y") X(ntid_z, "%ntid.z") X(ctaid_x, "%ctaid.x") X(ctaid_y, "%ctaid.y")        \
  X(ctaid_z, "%ctaid.z") X(nctaid_x, "%nctaid.x") X(nctaid_y, "%nctaid.y")                       \
  X(nctaid_z, "%nctaid.z") X(laneid, "%laneid") X(warpid, "%warpid") X(nwarpid, "%nwarpid")      \
  X(smid, "%smid") X(nsmid, "%nsmid") X(gridid, "%gridid")                                       \
  X(is_explicit_cluster, "%is_explicit_cluster") X(clusterid_x, "%clusterid.x")                  \
  X(clusterid_y, "%clusterid.y") X(clusterid_z, "%clusterid.z")                                  \
  X(nclusterid_x, "%nclusterid.x") X(nclusterid_y, "%nclusterid.y")                              \
  X(nclusterid_z, "%nclusterid.z") X(cluster_ctaid_x, "%cluster_ctaid.x")                        \
  X(cluster_ctaid_y, "%cluster_ctaid.y") X(cluster_ctaid_z, "%cluster_ctaid.z")                  \
  X(cluster_nctaid_x, "%cluster_nctaid.x") X(cluster_nctaid_y, "%cluster_nctaid.y")              \
  X(cluster_nctaid_z, "%cluster_nctaid.z") X(cluster_ctarank, "%cluster_ctarank")                \
  X(cluster_nctarank, "%cluster_nctarank") X(lanemask_eq, "%lanemask_eq")                        \
  X(lanemask_le, "%lanemask_le") X(lanemask_lt, "%lanemask_lt") X(lanemask_ge, "%lanemask_ge")   \
  X(lanemask_gt, "%lanemask_gt") X(clock, "%clock") X(clock_hi, "%clock_hi")                     \
  X(clock64, "%clock64") X(globaltimer, "%globaltimer") X(globaltimer_lo, "%globaltimer_lo")     \
  X(globaltimer_hi, "%globaltimer_hi")                                                           \
  X(reserved_smem_offset_begin, "%reserved_smem_offset_begin")                                   \
  X(reserved_smem_offset_end, "%reserved_smem_offset_end")                                       \
  X(reserved_smem_offset_cap, "%reserved_smem_offset_cap")                                       \
  X(total_smem_size, "%total_smem_size") X(aggr_smem_size, "%aggr_smem_size")                    \
  X(dynamic_smem_size, "%dynamic_smem_size") X(current_graph_exec, "%current_graph_exec")        \
  X(envreg0, "%envreg0") X(envreg1, "%envreg1") X(envreg2, "%envreg2") X(envreg3, "%envreg3")    \
  X(envreg_other, "%envreg") X(reserved_smem_offset_0, "%reserved_smem_offset_0")                \
  X(reserved_smem_offset_1, "%reserved_smem_offset_1")
// clang-format on

enum class Special : std::uint8_t {
#define X(name, text) name,
  INFLIGHT_PTX_SPECIALS(X)
#undef X
};

constexpr std::string_view spelling(Special special) {
  constexpr std::string_view texts[] = {
#define X(name, text) text,
      INFLIGHT_PTX_SPECIALS(X)
#undef X
  };
  return texts[static_cast<unsigned>(special)];
}

}  // namespace inflight::ptx
