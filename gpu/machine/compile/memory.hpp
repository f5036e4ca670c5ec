// What the emitters of loads and stores share.
#pragma once
#include <vector>

#include "gpu/machine/compile/emit.hpp"

namespace inflight::machine::compile {

struct Access {
  bool stores = false;
  ptx::Space space = ptx::Space::global;
  unsigned bytes = 4, count = 1;  // of an element; elements
  const ptx::Operand* values = nullptr;
  const ptx::Operand* address = nullptr;
};

// Goes to `out` unless what lies from the address in `low` to the one in `high`, and `reach` bytes
// from there, is in shared memory or in the extent that the op used last. Changes rcx.
void check_bounds(Emitter& e, const Site& s, const Access& x, const X::Gp& low, const X::Gp& high,
                  std::int64_t reach, const asmjit::Label& out);

// Each lane at an address of its own (gathers.cpp). `out`: where to go if the access is not known
// to be good.
bool takes_gather(const Emitter& e, const Site& s, const Access& x);
void gather(Emitter& e, const Site& s, const Access& x, const Value& address,
            const std::vector<std::uint32_t>& to, const asmjit::Label& out);
void scatter(Emitter& e, const Site& s, const Access& x, const Value& address,
             const std::vector<Value>& values, const asmjit::Label& out);

}  // namespace inflight::machine::compile
