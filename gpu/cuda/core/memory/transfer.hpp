// Copies and fills of memory: their description, checks and execution.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/bytes/range.hpp"
#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {

// cudaMemcpyKind by its numbers.
enum class Direction : std::uint8_t {
  host_to_host = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  by_address = 4,
};

struct GivenCopy;  // calls/copy_nodes.hpp

// A box of `width` bytes × `height` rows × `depth` slices. Rows lie `pitch` bytes apart, slices
// `pitch * rows` bytes. A linear copy has height and depth 1.
struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  std::uint64_t width = 0, height = 1, depth = 1;
  std::uint64_t to_pitch = 0, to_rows = 1;      // of the destination
  std::uint64_t from_pitch = 0, from_rows = 1;  // of the source
  Direction direction = Direction::by_address;
  bool awaited = false;                                   // the call returns when it is done
  bool staged = false;                                    // as in check::HostAccess
  bool between_peers = false;                             // the call names a device for each side
  bool to_known = false, from_known = false;              // CUDA knew the memory at the call
  const void *to_array = nullptr, *from_array = nullptr;  // the CUDA arrays in the call
  std::shared_ptr<const GivenCopy> given = nullptr;       // the parameters of a graph's node
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
  ByteBox destination() const {
    return {width, height, depth, to_pitch, Checked(to_pitch) * to_rows};
  }
  ByteBox source() const {
    return {width, height, depth, from_pitch, Checked(from_pitch) * from_rows};
  }
  // The bytes that it moves, after check(): it refuses a copy that would move more than 2^64-1.
  std::uint64_t bytes() const { return source().total().value_or(0); }
};
inline Copy linear(void* to, const void* from, std::uint64_t bytes, Direction direction) {
  return {.to = to,
          .from = from,
          .width = bytes,
          .to_pitch = bytes,
          .from_pitch = bytes,
          .direction = direction};
}

// The address of a position in pitched memory, in bytes. Null, where no memory is, if it would be
// above 2^64-1.
char* place_in(const abi::PitchedPointer& memory, const abi::Position& at);
// From a number of cudaMemcpyKind. An unknown number gives a Direction that check() refuses.
Direction direction_of(int kind);
// `height` rows × `depth` slices of `width` elements of `element` bytes (1, 2 or 4).
struct Fill {
  void* to = nullptr;
  std::uint32_t value = 0;
  unsigned element = 1;
  std::uint64_t width = 0, height = 1, depth = 1;  // width in elements
  std::uint64_t pitch = 0, rows = 1;               // bytes; rows per slice
  bool asynchronous = true;                        // the call's name ends in Async
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
  ByteBox destination() const {
    return {(Checked(width) * element).saturated(), height, depth, pitch, Checked(pitch) * rows};
  }
};

// success, invalid_value, invalid_pitch or invalid_direction. Device sides must lie inside one
// allocation; host sides may be any memory of the host. Ask at the call, and again when the work
// begins: memory may have been freed in between.
Status check(const Copy&);
Status check(const Fill&);

// Checks that the device may access a pool's memory (invalid_value). A copy reaches memory of other
// kinds from every device, and any memory if it names the devices.
Status check_access(const Copy&, const Device&);
Status check_access(const Fill&, const Device&);

// Where each device has the bytes at a multicast object's addresses. Empty: they are in no such
// object, or a device has no memory bound there.
std::vector<machine::MulticastSpan::Place> multicast_places(const ByteRange& range);
// The bytes from the first to the last that a checked copy or fill writes.
template <class Write>
ByteRange written(const Write& write) {
  const auto to = reinterpret_cast<std::uint64_t>(write.to);
  return write.destination().at(to).value_or(ByteRange());
}

void perform(const Copy&);
void perform(const Fill&);

// True if there is memory at the address now that CUDA knows.
bool knows_memory(const void* address);
// True if `address` is plain host memory, in no allocation of ours.
bool pageable(const void* address);
// Notes which sides are memory that CUDA knows now. They must still be when the copy begins.
void note_sides(Copy& copy);
// False: memory of a checked copy or fill has been freed meanwhile, which kills the context.
bool check_again(const Copy& copy, Device& device);
bool check_again(const Fill& fill, Device& device);

}  // namespace inflight::cuda
