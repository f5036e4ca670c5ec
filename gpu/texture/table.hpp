// Texture and surface objects by their handles. A handle is a number: a place in the table, and
// which object at that place is meant. It is never an address.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/texture/sampler.hpp"

namespace inflight::texture {

// The objects at one moment.
class Table {
 public:
  // Null: the handle is of no such object.
  const Texture* texture(std::uint64_t handle) const {
    const Entry* const e = find(handle);
    return e ? e->texture.get() : nullptr;
  }
  const Surface* surface(std::uint64_t handle) const {
    const Entry* const e = find(handle);
    return e ? e->surface.get() : nullptr;
  }

  // Does a handle name a place that a table has, whatever is there?
  static bool reaches(const Table* table, std::uint64_t handle);

 private:
  friend class Objects;
  struct Entry {
    std::uint64_t handle = 0;  // 0: there is none
    std::shared_ptr<const Texture> texture;
    std::shared_ptr<const Surface> surface;
  };
  const Entry* find(std::uint64_t handle) const;
  std::vector<Entry> entries_;
};

// The objects that a process makes and destroys.
class Objects {
 public:
  std::uint64_t add(Texture texture);
  std::uint64_t add(Surface surface);
  bool remove_texture(std::uint64_t handle);  // false: there is none
  bool remove_surface(std::uint64_t handle);
  // What a launch that begins now can read. Kept until an object is made or destroyed.
  std::shared_ptr<const Table> snapshot();

 private:
  std::uint64_t add(Table::Entry entry);
  std::mutex mutex_;
  Table table_;
  std::vector<std::uint32_t> free_;  // places, the one freed last at the end
  std::uint64_t made_ = 0;
  std::shared_ptr<const Table> snapshot_;
};

}  // namespace inflight::texture
