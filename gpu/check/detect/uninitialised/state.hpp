// Which bytes of a program's memory nothing has written: those of global memory, and of each block.
#pragma once
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/check/events.hpp"
#include "gpu/check/finding/findings.hpp"
#include "gpu/check/shadow/bits.hpp"
#include "gpu/check/shadow/byte_set.hpp"

namespace inflight::check::uninitialised {

// A load of bytes that nothing has written, by lanes of one warp: the last one of its instruction.
struct Origin {
  Who who;  // its mask: the lanes that loaded such
  Space space = Space::global;
  std::uint16_t rank = 0;  // of shared memory: whose
  bool derived = false;    // the bytes hold what was computed from such that nothing had written
  bool copied = false;     // a copy brought the bytes there, from where nothing had written either
  std::uint64_t address = 0, bytes = 0;  // of the first lane
  std::uint64_t barriers = 0;            // that the block whose bytes these are had passed
  std::shared_ptr<const Origin> cause;   // of derived bytes: the load that they come from
};

// A use of undefined bytes that is reported unless another thread writes them with no barrier of
// the block between: then they race, and another order would have defined them.
struct PendingUse {
  FindingKey key;
  Finding finding;
  Space space = Space::global;
  std::uint64_t address = 0, bytes = 0;
  Who who;                     // the thread whose bytes these are
  std::uint64_t barriers = 0;  // that the block had passed
};

struct UndefinedBlock;

struct UndefinedWarp {
  std::vector<Mask> local;  // by byte of local memory: lanes that have written it
};

// A cluster's blocks, by rank; null: it has ended.
struct UndefinedCluster {
  std::pair<std::uint64_t, std::uint64_t> id;  // its launch and number
  std::vector<UndefinedBlock*> blocks;
};

struct UndefinedBlock {
  std::uint16_t rank = 0;
  shadow::Bits shared;   // bytes that nothing has written, or a copy of such
  shadow::Bits copied;   // of them, those that a copy or a store of such bytes has written
  shadow::Bits derived;  // of the latter, those that hold what was computed from such bytes
  std::unordered_map<std::uint64_t, std::shared_ptr<const Origin>> causes;  // by derived word
  std::shared_ptr<UndefinedCluster> cluster;
  std::vector<UndefinedWarp> warps;
  std::vector<Origin> origins;                               // UndefinedBytes::origin, and one
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;  // of origins, by warp and instruction
  std::vector<PendingUse> pending;
  std::uint64_t barriers = 0;  // of the whole block, completed

  UndefinedBlock* peer(std::uint16_t of) const {
    return of < cluster->blocks.size() ? cluster->blocks[of] : nullptr;
  }
};

// Of a lane's access of `bytes`: has nothing written any of them, or all of them?
enum class Extent : std::uint8_t { any, all };

class UndefinedGlobal {
 public:
  shadow::ByteSet known;      // allocations that are followed at all
  shadow::ByteSet undefined;  // bytes that nothing has written, or a kernel's copy of such
  shadow::ByteSet stored;     // of them, those that a kernel has written so

  void begin(std::uint64_t address, std::uint64_t bytes) {
    known.insert(address, bytes), undefined.insert(address, bytes);
    if (!stored.never_used()) stored.erase(address, bytes);
  }
  void end(std::uint64_t address, std::uint64_t bytes) {
    known.erase(address, bytes);
    write(address, bytes);
  }
  void write(std::uint64_t address, std::uint64_t bytes) {
    undefined.erase(address, bytes);
    if (!stored.never_used()) stored.erase(address, bytes);
  }
};

// The lanes of `mask` whose bytes, `from` to `from + bytes` in each access, are undefined.
Mask undefined_lanes(const Access& access, const UndefinedGlobal& global,
                     const UndefinedBlock& block, Mask mask, std::uint32_t from,
                     std::uint32_t bytes, Extent extent);
// Those lanes have written these bytes.
void write_lanes(const Access& access, UndefinedGlobal& global, UndefinedBlock& block, Mask mask);
// Those lanes have written what nothing had written.
void write_undefined(const Access& access, UndefinedGlobal& global, UndefinedBlock& block,
                     Mask mask, std::uint32_t from, std::uint32_t bytes, Mask stored);

}  // namespace inflight::check::uninitialised
