// Shadow memory of one address space: global memory, or the shared memory of one block. It grows
// with the lines that are touched.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "gpu/check/shadow/line.hpp"

namespace inflight::shadow {

// One access of lanes of a warp, at one instruction.
struct Access {
  const std::uint64_t* addresses = nullptr;  // [32]
  order::Mask lanes = 0;
  std::uint32_t bytes = 0;  // each lane
  std::uint32_t place = 0;
  bool write = false;  // an atomic that changes memory is a write
  bool strong = false;
  order::Scope scope = order::Scope::cta;
};

// Bytes that one actor touches: a bulk copy, or a copy of the host's.
struct Range {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t place = 0;
  bool write = false;
  bool async = true;
  bool strong = false;  // relaxed operations of gpu scope, each on an element of it: a reduction
};

// Of a copy: who performs it, as the shadow names it.
struct Performer {
  order::Row row = 0;
  unsigned lane = 0;
  order::Epoch epoch = 0;
};

class Shadow {
 public:
  explicit Shadow(order::Space space, Limits limits = {}) : space_(space), limits_(limits) {}

  // By the lanes themselves.
  void access(const order::Block& block, std::uint32_t warp, const Access& access,
              std::vector<Conflict>& conflicts);
  // By cp.async copies of the lanes, of the group that is open now; their row is Part::group_copy.
  void copy(const order::Block& block, std::uint32_t warp, const Access& access,
            std::vector<Conflict>& conflicts);
  // By one copy that a lane issues.
  void copy(const order::Block& block, std::uint32_t warp, unsigned lane, const Performer& by,
            const Range& range, std::vector<Conflict>& conflicts);
  // By a copy in a stream, which comes after what `knows` says.
  void host_copy(const order::Knowledge& knows, const Performer& by, const Range& range,
                 std::vector<Conflict>& conflicts);
  // The copy is still in flight when the phase that it should have ended with is complete.
  void restamp(const Performer& by, order::Epoch epoch, std::uint64_t address, std::uint64_t bytes);
  // Freed, or a block that ended: nothing there is remembered.
  void forget(std::uint64_t address, std::uint64_t bytes);

  std::size_t bytes() const;
  std::uint64_t forgotten() const;  // records that the limits cost

 private:
  static constexpr std::uint32_t page_lines = 32;
  static constexpr std::uint64_t page_bytes = page_lines * line_bytes;
  static constexpr std::size_t shards = 64;
  using Page = std::array<Line, page_lines>;
  // Pages of all threads of the host: each shard has its lock.
  struct Shard {
    mutable std::mutex lock;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;
    std::uint64_t last = ~std::uint64_t{0};
    Page* last_page = nullptr;
    std::uint64_t forgotten = 0;
    Page& page(std::uint64_t number);
  };
  Shard& shard(std::uint64_t page) { return shards_[page % shards]; }
  void lanes(const Actor& actor, order::Row row, order::Epoch epoch, const Access& access,
             order::Mask mask, std::vector<Conflict>& conflicts);
  // `record`'s actors from `address` on; its base counts from there.
  void run(const Actor& actor, const Record& record, std::uint64_t address, std::uint64_t bytes,
           std::vector<Conflict>& conflicts);

  order::Space space_;
  Limits limits_;
  std::array<Shard, shards> shards_;
};

}  // namespace inflight::shadow
