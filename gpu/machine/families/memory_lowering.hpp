// Chooses the handler for each form of ld and st. The handlers are compiled once for each
// instruction set (memory.cpp); this choice is compiled once.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gpu/machine/lowering/row.hpp"

namespace inflight::machine {

// The memory that an access goes to, as far as the decoder knows it.
enum class AccessPlace : std::uint8_t {
  global,     // .global and .const: host addresses
  shared,     // addresses of the block's shared memory
  local,      // offsets in the thread's local memory
  generic,    // any of them
  parameter,  // offsets in the kernel's parameters
  frame,      // a fixed offset in the calling frame's local memory: parameters of calls
  cluster,    // addresses of shared memory of any block of the cluster
};
inline constexpr unsigned access_places = 7;

// Handlers of strong accesses, which other devices or processes may observe in part.
struct StrongHandlers {
  Handler global, generic;
};

struct AccessHandlers {
  bool store;
  std::uint8_t bytes;  // size of an element in memory
  bool sign;           // a load that sign-extends
  std::uint8_t width;  // bytes of a register's lane
  std::uint8_t count;  // elements
  Handler at[access_places];
  StrongHandlers strong;
};

struct AccessTable {
  const AccessHandlers* rows;
  std::size_t count;
};

// Decode ld, ldu and st. The registers are Op::d, b, c, then Code::extra; the address is Op::a and
// Op::imm, or imm alone.
bool lower_load(Lowering&, AccessTable);
bool lower_store(Lowering&, AccessTable);

// Instructions that only advise the caches: prefetch, prefetchu, applypriority, discard,
// createpolicy.
void add_cache_hints(Rows&);

}  // namespace inflight::machine
