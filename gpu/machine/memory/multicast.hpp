// Multicast objects: one range of addresses that stands for memory of several devices (PTX ISA,
// "multimem"; CUDA driver API, "Multicast Object Management").
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace inflight::machine {

// Addresses [low, high) of a multicast object, and the address of `low` in the memory of each
// device, in the order in which the devices were added.
struct MulticastSpan {
  struct Place {
    std::byte* at;
    std::uint64_t seen;  // the program's mapping for plain accesses; 0: none
  };
  std::uint64_t low = 0, high = 0;
  std::vector<Place> places;  // empty: a device has bound nothing there
};

// The devices of an object and the memory that they have bound to it.
class [[gnu::visibility("default")]] MulticastObject {
 public:
  MulticastObject(unsigned devices, std::uint64_t bytes) : most_(devices), bytes_(bytes) {}
  // False: the device is already added, or the object is full.
  bool add(int device);
  // Binds `bytes` of a device's memory, at host address `at`. False: the device is not added,
  // others are still missing, or the range is not inside or not free.
  bool bind(int device, std::uint64_t offset, std::uint64_t bytes, std::byte* at);
  // False: no such range is bound.
  bool unbind(int device, std::uint64_t offset, std::uint64_t bytes);
  // The program has mapped the memory that the device binds at `offset`, now or later, at `address`
  // too; 0: it is mapped nowhere any more.
  void see(int device, std::uint64_t offset, std::uint64_t address);
  // The range of offsets around this one that is in one piece on every device.
  MulticastSpan span(std::uint64_t offset) const;
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Piece {
    std::uint64_t bytes;
    std::byte* at;
  };
  struct Device {
    int ordinal;
    std::map<std::uint64_t, Piece> pieces;  // by offset
  };
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> seen_;  // by device and offset
  Device* find(int device);
  const unsigned most_;
  const std::uint64_t bytes_;
  mutable std::shared_mutex mutex_;
  std::vector<Device> devices_;
};

// The address ranges at which objects are mapped.
class [[gnu::visibility("default")]] MulticastRanges {
 public:
  void map(std::uint64_t base, std::uint64_t bytes, std::shared_ptr<MulticastObject> object);
  void unmap(std::uint64_t base);
  // Is nothing mapped? Takes no lock, so callers that must not wait check it first.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }
  bool contains(std::uint64_t address) const;
  // The range of addresses around this one that is in one piece of memory on every device.
  MulticastSpan span(std::uint64_t address) const;
  // The place of these bytes on each device. Empty: they are in no object, or not in one piece.
  std::vector<MulticastSpan::Place> places(std::uint64_t address, std::uint64_t bytes) const;

 private:
  struct Range {
    std::uint64_t bytes;
    std::shared_ptr<MulticastObject> object;
  };
  const std::pair<const std::uint64_t, Range>* find(std::uint64_t address) const;
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Range> ranges_;  // by base
  std::atomic<std::size_t> count_{0};
};

}  // namespace inflight::machine
