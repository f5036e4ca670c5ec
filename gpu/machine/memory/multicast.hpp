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

// Addresses [low, high) of a multicast object, and where `low` is in the memory of each device, in
// the order in which they were added.
struct MulticastSpan {
  struct Place {
    std::byte* at;
    std::uint64_t seen;  // where the program has it mapped for plain accesses; 0: nowhere
  };
  std::uint64_t low = 0, high = 0;
  std::vector<Place> places;  // empty: a device has none there
};

// The devices of an object, and what they have bound to it.
class [[gnu::visibility("default")]] MulticastObject {
 public:
  MulticastObject(unsigned devices, std::uint64_t bytes) : most_(devices), bytes_(bytes) {}
  // False: it is one already, or there are as many as the object takes.
  bool add(int device);
  // Binds `bytes` of a device's memory, which the host has at `at`. False: the device is none of
  // the object's or others are still to be added, or the range is not inside or not free.
  bool bind(int device, std::uint64_t offset, std::uint64_t bytes, std::byte* at);
  // False: no such range is bound.
  bool unbind(int device, std::uint64_t offset, std::uint64_t bytes);
  // The program has mapped what the device binds at `offset`, now or later, at `address` besides;
  // 0: nowhere any more.
  void see(int device, std::uint64_t offset, std::uint64_t address);
  // The offsets around this one that are the same piece on every device.
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

// Where objects are mapped.
class [[gnu::visibility("default")]] MulticastRanges {
 public:
  void map(std::uint64_t base, std::uint64_t bytes, std::shared_ptr<MulticastObject> object);
  void unmap(std::uint64_t base);
  // Is nothing mapped? Asked before every other question by who must not wait.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }
  bool contains(std::uint64_t address) const;
  // The addresses around this one that mean the same piece of memory on every device.
  MulticastSpan span(std::uint64_t address) const;
  // Where each device has these bytes. Empty: they are in no object, or in no one piece.
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
