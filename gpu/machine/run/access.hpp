// Checked access to memory by address, for what is no plain load or store: builtins, copies.
#pragma once
#include <cstdint>
#include <string>

#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {

// Is `address` inside the window? Then `offset` is where.
inline bool in_window(std::uint64_t address, std::uint64_t window, std::uint64_t window_size,
                      std::uint64_t& offset) {
  offset = address - window;
  return offset < window_size;
}

// The state space that a generic address lies in: shared, local, param, or global for all others.
ptx::Space space_of(const Warp& w, std::uint64_t generic_address);

// Where `size` bytes at a generic address lie on the host for `lane`, or null if any of them is out
// of bounds (then `why`, if given, says what lies there). Local memory is interleaved and has no
// such place: use read_generic and write_generic for it.
std::byte* resolve_generic(Warp& w, std::uint64_t address, std::uint32_t size, bool writing,
                           std::string* why = nullptr);
// Copies bytes of any state space between a generic address and the host. False if out of bounds.
bool read_generic(Warp& w, int lane, std::uint64_t address, void* out, std::uint32_t size);
bool write_generic(Warp& w, int lane, std::uint64_t address, const void* in, std::uint32_t size);

// As resolve_generic, for addresses known to be global. Checked against the worker's cached extent
// for `op` first.
std::byte* resolve_global(Warp& w, const Op* op, std::uint64_t address, std::uint32_t size,
                          bool writing);
// `address` in shared memory of the block or, unless `own_only`, of others of its cluster. Null if
// it is out of bounds.
inline std::byte* resolve_shared(Warp& w, std::uint64_t address, std::uint32_t size,
                                 bool own_only = false) {
  const Block& b = *w.block;
  const std::uint64_t offset = address ^ b.window;
  if (offset >= reserved_shared && offset + size <= b.shared_end && offset + size >= offset)
    return b.shared + offset;
  if (shared_fault(b, address, size, own_only) != FaultKind::none) return nullptr;
  return shared_place(b, address).at();
}

// The lanes that may not make an access, and why.
struct BadLanes {
  std::uint32_t lanes = 0;
  FaultKind kind = FaultKind::none;
};
// Checks `size`-byte accesses by the lanes of `mask` at global addresses, one by one, and caches
// the last extent for `op`. Misalignment is reported first.
BadLanes check_global(Warp& w, const Op* op, std::uint32_t mask, const std::uint64_t* addresses,
                      std::uint32_t size, bool writing);

// The lanes' addresses that Op::a and Op::imm mean in a space; shared ones count modulo 2^32. Lanes
// that are not active get unspecified values.
void lane_addresses(const Warp& w, const Op* op, ptx::Space space, std::uint64_t (&out)[lanes]);

// Where lanes' bytes lie on the host, for what is done lane by lane.
struct LanePlaces {
  std::byte* at[lanes];
  std::uint32_t shared = 0;  // lanes whose bytes are in shared memory of the block's cluster
};
// Finds the places of `size`-byte accesses to global, shared or generic addresses. A generic
// address in local or parameter memory is of the wrong state space: those have no places.
BadLanes resolve_lanes(Warp& w, const Op* op, std::uint32_t mask, ptx::Space space,
                       const std::uint64_t* addresses, std::uint32_t size, bool writing,
                       LanePlaces& out);
// The same, where an address is a multiple of something else.
BadLanes resolve_parts(Warp& w, const Op* op, std::uint32_t mask, ptx::Space space,
                       const std::uint64_t* addresses, std::uint32_t size, std::uint32_t alignment,
                       bool writing, LanePlaces& out);

// Made before an op's sources are resolved: can any of them change while a copy is in flight? They
// cannot where no thread of the launch has written to their allocation.
class SourceWatch {
 public:
  SourceWatch(const Warp& w, const Op* op) : warp_(w), op_(op), lookups_(w.worker->lookups) {}
  bool needed() const;

 private:
  const Warp& warp_;
  const Op* op_;
  std::uint64_t lookups_;
};

// As check_global, for sources of copies of which lane l reads bytes[l]: addresses are multiples of
// `alignment`.
BadLanes check_source(Warp& w, const Op* op, std::uint32_t mask, const std::uint64_t* addresses,
                      const std::uint32_t* bytes, std::uint32_t alignment);

// Bytes of local memory that a thread of this warp has now.
inline std::uint64_t local_bytes(const Warp& w) {
  return w.local_words.size() * sizeof(std::uint32_t) / lanes;
}

// "0x2000..40 is 16 bytes past the end of the 4096-byte allocation at 0x2000..": for fault reports.
std::string describe_address(const Warp& w, std::uint64_t generic_address);
// Outcome::slack for an access that is out of bounds.
std::uint64_t slack_for(const Warp& w, const FaultDetail& access);

// Ends the kernel for a bad access by the lanes of `bad`: out of bounds or misaligned, in the words
// of the field, with address, size, space and the nearest allocation.
const Op* bad_access(Warp& w, const Op* op, std::uint32_t bad, const std::uint64_t* addresses,
                     std::uint32_t size, bool writing, ptx::Space space, FaultKind kind);

}  // namespace inflight::machine
