// Kernels of a few instructions of every form that the machine supports. The launch decides their
// operands.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/choices.hpp"

namespace inflight::fuzz {

// The purpose of an operand. It selects values that are nearly right or nearly wrong.
enum class Role : std::uint8_t {
  value,
  global,
  shared,
  local,
  param,
  generic,
  barrier,  // the shared address of an mbarrier
  map,      // a tensor map: `detail` is its kind (guarded_device.hpp)
  size,     // bytes
  coordinate,
  lanes,   // a mask of lanes
  ranks,   // a mask of blocks
  count,   // threads, arrivals, bytes, a barrier's number
  format,  // the address of a format string
  texture,
  surface,
  texel,      // a coordinate of a texture: bits of an integer or a float
  multicast,  // an address of a multicast object
};

// Operand i of a thread t is base + t * stride: parameters 2i and 2i + 1 of the kernel.
struct Slot {
  Role role = Role::value;
  std::uint32_t detail = 0;
};

inline constexpr std::uint32_t most_slots = 48, shared_bytes = 8192, mbarriers = 4,
                               first_shared = 1024, first_mbarrier = first_shared + shared_bytes,
                               variable_bytes = 77, local_bytes = 64;

struct GeneratedKernel {
  std::string text;
  std::vector<Slot> slots;
};

// A module with the kernel `k`, the variables `g` (.global) and `c` (.const), and `forms` of
// instructions to choose from: opcodes as written, without operands.
GeneratedKernel generate(Choices& choices, const std::vector<std::string>& forms);

// The forms that forms.txt lacks.
const std::vector<std::string>& more_forms();

}  // namespace inflight::fuzz
