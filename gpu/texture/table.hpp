// Texture and surface objects by their handles. A handle combines a place in the table with a
// serial number of the object. It is never an address.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/texture/sampler.hpp"

namespace inflight::texture {

// The objects at one time.
class Table {
 public:
  // Return null if the handle does not name such an object.
  const Texture* texture(std::uint64_t handle) const {
    const Entry* const e = find(handle);
    return e ? e->texture.get() : nullptr;
  }
  const Surface* surface(std::uint64_t handle) const {
    const Entry* const e = find(handle);
    return e ? e->surface.get() : nullptr;
  }

  // Does the table have the handle's place? The place may be empty or hold another object.
  static bool reaches(const Table* table, std::uint64_t handle);

 private:
  friend class Objects;
  struct Entry {
    std::uint64_t handle = 0;  // 0: empty
    std::shared_ptr<const Texture> texture;
    std::shared_ptr<const Surface> surface;
  };
  const Entry* find(std::uint64_t handle) const;
  std::vector<Entry> entries_;
};

// The objects that a process creates and destroys. Thread-safe.
class Objects {
 public:
  std::uint64_t add(Texture texture);
  std::uint64_t add(Surface surface);
  bool remove_texture(std::uint64_t handle);  // false if it does not exist
  bool remove_surface(std::uint64_t handle);
  // Returns the objects that a launch beginning now can read. Cached until one is added or removed.
  std::shared_ptr<const Table> snapshot();

 private:
  std::uint64_t add(Table::Entry entry);
  std::mutex mutex_;
  Table table_;
  std::vector<std::uint32_t> free_;  // free places, most recently freed last
  std::uint64_t made_ = 0;
  std::shared_ptr<const Table> snapshot_;
};

}  // namespace inflight::texture
