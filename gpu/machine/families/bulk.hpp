// Shared by the decoding and execution of bulk copies (bulk_lowering, bulk, bulk_tensor).
#pragma once
#include <cstdint>

#include "gpu/machine/code/op.hpp"

namespace inflight::machine {

struct Warp;

// The operands of a bulk copy: Code::extra[Op::extra + name] is the Ref of an operand, or no_ref.
struct BulkOperands {
  enum Name : unsigned {
    to,        // shared: u32; global: u64
    from,      // shared: u32; global: u64
    size,      // u32, bytes
    mbarrier,  // u32, shared
    ctas,      // u16, .multicast::cluster
    mask,      // u16, .cp_mask
    left,      // u32, .ignore_oob: bytes left out before the first copied one
    right,     // u32, and after the last one
    map,       // u64, generic: a tensor map
    place,     // u32 each: coordinates, then im2col offsets (u16 each)
    offset = place + 5,
    count = offset + 3
  };
};

// The handlers: one for each direction.
const Op* bulk_load(Warp& w, const Op* op);      // global to shared memory, of several blocks
const Op* bulk_copy(Warp& w, const Op* op);      // shared memory to another block's
const Op* bulk_store(Warp& w, const Op* op);     // shared memory to global
const Op* bulk_prefetch(Warp& w, const Op* op);  // global memory to the cache
const Op* bulk_tensor_load(Warp& w, const Op* op);
const Op* bulk_tensor_store(Warp& w, const Op* op);
const Op* bulk_tensor_prefetch(Warp& w, const Op* op);
const Op* bulk_commit(Warp& w, const Op* op);
const Op* bulk_wait(Warp& w, const Op* op);
// st.async, red.async: the values are at BulkOperands::place.
const Op* async_store(Warp& w, const Op* op);

}  // namespace inflight::machine
