// Checked access to memory by address, for everything but plain loads and stores: builtins, copies.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "gpu/machine/instruction/addresses.hpp"
#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/worker.hpp"

namespace inflight::machine {

// Is `address` inside the window? Sets `offset` to its offset there.
inline bool in_window(std::uint64_t address, std::uint64_t window, std::uint64_t window_size,
                      std::uint64_t& offset) {
  offset = address - window;
  return offset < window_size;
}

// The state space of a generic address: shared, local, param, or global for all others.
ptx::Space space_of(const Warp& w, std::uint64_t generic_address);

// The host address of `size` bytes at a generic address, or null if any of them is out of bounds
// (then `why`, if given, describes the address). Local memory is interleaved and has no such
// address: use read_generic and write_generic for it.
std::byte* resolve_generic(Warp& w, std::uint64_t address, std::uint32_t size, bool writing,
                           std::string* why = nullptr);
// Copies bytes of any state space from or to a generic address. False if out of bounds.
bool read_generic(Warp& w, int lane, std::uint64_t address, void* out, std::uint32_t size);
bool write_generic(Warp& w, int lane, std::uint64_t address, const void* in, std::uint32_t size);

// As resolve_generic, for addresses known to be global. Checks the worker's cached extent for `op`
// first.
std::byte* resolve_global(Warp& w, const Op* op, std::uint64_t address, std::uint32_t size,
                          bool writing);
// The host address of `address` in shared memory of the block or, unless `own_only`, of its
// cluster. Null if out of bounds.
inline std::byte* resolve_shared(Warp& w, std::uint64_t address, std::uint32_t size,
                                 bool own_only = false) {
  const Block& b = *w.block;
  const std::uint64_t offset = address ^ b.window;
  if (offset >= reserved_shared && offset + size <= b.shared_end && offset + size >= offset)
    return b.shared + offset;
  if (shared_fault(b, address, size, own_only) != FaultKind::none) return nullptr;
  return shared_place(b, address).at();
}

// The lanes whose access is an error, and its kind.
struct BadLanes {
  std::uint32_t lanes = 0;
  FaultKind kind = FaultKind::none;
};
// Checks `size`-byte accesses by the lanes of `mask` at global addresses, one by one, and caches
// the last extent for `op`. Reports misalignment first.
BadLanes check_global(Warp& w, const Op* op, std::uint32_t mask, const std::uint64_t* addresses,
                      std::uint32_t size, bool writing);

// What an address in `space` without a register counts from: the start of the block's own shared
// memory, or 0.
[[gnu::always_inline]] inline std::uint32_t base_without_register(const Warp& w, ptx::Space space) {
  return ptx::is_shared(space) ? w.block->window : 0;
}
// The lanes' addresses in `space`, from Op::a and Op::imm (addresses.hpp). Inactive lanes get
// unspecified values.
void lane_addresses(const Warp& w, const Op* op, ptx::Space space, std::uint64_t (&out)[lanes]);
// The same of the op's second address (Op::second_address_64).
void second_addresses(const Warp& w, const Op* op, ptx::Space space, std::uint64_t (&out)[lanes]);

// The same in shared memory, if the addresses of the lanes in `mask` have 16 bits. False otherwise,
// or if the registers have 64 bits.
bool narrow_addresses(const Warp& w, const Op* op, std::uint32_t mask,
                      std::array<std::uint16_t, lanes>& out);
// Whether the bytes of each lane, of all 32, follow those of the lane before it.
bool is_row(const std::uint64_t (&addresses)[lanes], std::uint32_t bytes);

// Host addresses of the lanes' bytes, for work done lane by lane.
struct LanePlaces {
  std::byte* at[lanes];
  std::uint32_t shared = 0;  // lanes whose bytes are in shared memory of the block's cluster
};
// Finds the host addresses of `size`-byte accesses to global, shared or generic addresses. A
// generic address in local or parameter memory has the wrong state space and is reported as bad.
BadLanes resolve_lanes(Warp& w, const Op* op, std::uint32_t mask, ptx::Space space,
                       const std::uint64_t* addresses, std::uint32_t size, bool writing,
                       LanePlaces& out);
// The same, but an address must be a multiple of `alignment` instead of `size`.
BadLanes resolve_parts(Warp& w, const Op* op, std::uint32_t mask, ptx::Space space,
                       const std::uint64_t* addresses, std::uint32_t size, std::uint32_t alignment,
                       bool writing, LanePlaces& out);

// Create it before an op's sources are resolved. needed() then says whether any source can change
// while a copy is in flight. It cannot if no thread of the launch has written to its allocation.
class SourceWatch {
 public:
  SourceWatch(const Warp& w, const Op* op) : warp_(w), op_(op), lookups_(w.worker->lookups) {}
  bool needed() const;

 private:
  const Warp& warp_;
  const Op* op_;
  std::uint64_t lookups_;
};

// As check_global, for sources of copies: lane l reads bytes[l] at a multiple of `alignment`.
BadLanes check_source(Warp& w, const Op* op, std::uint32_t mask, const std::uint64_t* addresses,
                      const std::uint32_t* bytes, std::uint32_t alignment);

// Bytes of local memory that each thread of this warp has at present.
inline std::uint64_t local_bytes(const Warp& w) {
  return w.local_words.size() * sizeof(std::uint32_t) / lanes;
}

// For fault reports: "0x2000..40 is 16 bytes past the end of the 4096-byte allocation at 0x2000..".
std::string describe_address(const Warp& w, std::uint64_t generic_address);
// Outcome::slack for an access that is out of bounds.
std::uint64_t slack_for(const Warp& w, const FaultDetail& access);

// Ends the kernel for a bad access by the lanes of `bad`: out of bounds or misaligned. The report
// gives address, size, space and the nearest allocation.
const Op* bad_access(Warp& w, const Op* op, std::uint32_t bad, const std::uint64_t* addresses,
                     std::uint32_t size, bool writing, ptx::Space space, FaultKind kind);

}  // namespace inflight::machine
