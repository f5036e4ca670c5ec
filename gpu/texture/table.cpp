// Creates, finds and removes texture and surface objects.
#include "gpu/texture/table.hpp"

namespace inflight::texture {
namespace {

// A handle's low bits are its place in the table, counted from 1.
constexpr unsigned place_bits = 24;
constexpr std::uint64_t place_of(std::uint64_t handle) {
  return (handle & ((1u << place_bits) - 1)) - 1;
}

}  // namespace

const Table::Entry* Table::find(std::uint64_t handle) const {
  const std::uint64_t place = place_of(handle);
  if (handle == 0 || place >= entries_.size() || entries_[place].handle != handle) return nullptr;
  return &entries_[place];
}

bool Table::reaches(const Table* table, std::uint64_t handle) {
  const std::uint64_t places = table ? table->entries_.size() : 0;
  return place_of(handle) + 1 <= places;
}

std::uint64_t Objects::add(Table::Entry entry) {
  std::lock_guard lock(mutex_);
  std::uint32_t place = static_cast<std::uint32_t>(table_.entries_.size());
  if (free_.empty()) {
    table_.entries_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  entry.handle = ++made_ << place_bits | (place + 1);
  const std::uint64_t handle = entry.handle;
  table_.entries_[place] = std::move(entry);
  snapshot_ = nullptr;
  return handle;
}

std::uint64_t Objects::add(Texture texture) {
  return add({0, std::make_shared<const Texture>(std::move(texture)), nullptr});
}
std::uint64_t Objects::add(Surface surface) {
  return add({0, nullptr, std::make_shared<const Surface>(std::move(surface))});
}

bool Objects::remove_texture(std::uint64_t handle) {
  std::lock_guard lock(mutex_);
  if (!table_.texture(handle)) return false;
  table_.entries_[place_of(handle)] = {};
  free_.push_back(static_cast<std::uint32_t>(place_of(handle)));
  snapshot_ = nullptr;
  return true;
}

bool Objects::remove_surface(std::uint64_t handle) {
  std::lock_guard lock(mutex_);
  if (!table_.surface(handle)) return false;
  table_.entries_[place_of(handle)] = {};
  free_.push_back(static_cast<std::uint32_t>(place_of(handle)));
  snapshot_ = nullptr;
  return true;
}

std::shared_ptr<const Table> Objects::snapshot() {
  std::lock_guard lock(mutex_);
  if (!snapshot_) snapshot_ = std::make_shared<const Table>(table_);
  return snapshot_;
}

}  // namespace inflight::texture
