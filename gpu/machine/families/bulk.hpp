// What decoding and execution of bulk copies share (bulk_lowering.cpp, bulk.cpp).
#pragma once
#include <cstdint>

#include "gpu/async/reduction.hpp"
#include "gpu/machine/decode/op.hpp"
#include "gpu/ptx/types.hpp"

namespace inflight::machine {

struct Warp;

// The operands of a bulk copy, at Code::extra[Op::extra + ...]: lanes of them, or no_ref.
struct BulkOperands {
  enum Name : unsigned {
    to,        // shared: u32; global: u64
    from,      // likewise
    size,      // u32, bytes
    mbarrier,  // u32, shared
    ctas,      // u16, .multicast::cluster
    mask,      // u16, .cp_mask
    map,       // u64, generic: a tensor map
    place,     // u32 each: coordinates, then im2col offsets (u16 each)
    offset = place + 5,
    count = offset + 3
  };
};

// What is known of a bulk copy when it is decoded: Op::imm.
struct BulkForm {
  bool own_only = false;  // the destination is .shared::cta
  bool reduces = false;
  async::ReduceOp operation = async::ReduceOp::add;
  std::uint8_t type = 0;  // async::TensorType, of a reduction that is no tensor's
  std::uint8_t rank = 0;  // of the tensor
  bool im2col = false;
};
static_assert(sizeof(BulkForm) <= sizeof(std::int64_t));

// The handlers: one for each direction.
const Op* bulk_load(Warp& w, const Op* op);      // global to shared memory, of several blocks
const Op* bulk_copy(Warp& w, const Op* op);      // shared memory to another block's
const Op* bulk_store(Warp& w, const Op* op);     // shared memory to global
const Op* bulk_prefetch(Warp& w, const Op* op);  // global memory to the cache
const Op* bulk_tensor_load(Warp& w, const Op* op);
const Op* bulk_tensor_store(Warp& w, const Op* op);
const Op* bulk_tensor_prefetch(Warp& w, const Op* op);
const Op* bulk_commit(Warp& w, const Op* op);
const Op* bulk_wait(Warp& w, const Op* op);  // Op::imm groups; Op::detail: .read
// st.async, red.async: Op::imm is an AsyncStoreForm, Op::count the elements, whose values stand at
// BulkOperands::place.
struct AsyncStoreForm {
  std::uint8_t bytes = 0;  // of an element
  bool reduces = false;
  async::ReduceOp operation = async::ReduceOp::add;
  std::uint8_t type = 0;
};
const Op* async_store(Warp& w, const Op* op);

}  // namespace inflight::machine
