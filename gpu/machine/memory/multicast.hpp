// Multicast objects: one range of addresses that stands for memory of several devices (PTX ISA,
// "multimem"; CUDA driver API, "Multicast Object Management").
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace inflight::machine {

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
  // Where these bytes are in the memory of each device. Empty: one has none there.
  std::vector<std::byte*> places(std::uint64_t offset, std::uint64_t bytes) const;
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
  // Of each device's memory behind an address. Empty: there is none, or not of every device.
  std::vector<std::byte*> places(std::uint64_t address, std::uint64_t bytes) const;

 private:
  struct Range {
    std::uint64_t bytes;
    std::shared_ptr<MulticastObject> object;
  };
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Range> ranges_;  // by base
};

}  // namespace inflight::machine
