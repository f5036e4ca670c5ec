// The bytes of global memory and of each block's memory that nothing has written.
#pragma once
#include <array>
#include <atomic>
#include <bitset>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/check/events.hpp"
#include "gpu/check/finding/findings.hpp"
#include "gpu/check/shadow/bits.hpp"
#include "gpu/check/shadow/byte_set.hpp"
#include "gpu/check/shadow/partly_defined.hpp"

namespace inflight::check::uninitialised {

// A load of undefined bytes by lanes of one warp: the last execution of its instruction.
struct Origin {
  Who who;  // its mask: the lanes that loaded undefined bytes
  Space space = Space::global;
  std::uint16_t rank = 0;    // of shared memory: the owner's rank in the cluster
  bool derived = false;      // the bytes hold a value computed from undefined bytes
  bool partly = false;       // other bits of the bytes are defined
  bool overwritten = false;  // the first lane itself was the first to write them, after the load
  bool copied = false;       // a copy or store wrote the bytes, with undefined ones
  std::uint64_t address = 0, bytes = 0;  // of the first lane
  std::uint64_t barriers = 0;            // UndefinedBlock::barriers of the owner at the load
  // The load that the bytes come from, if they are derived or in local memory.
  std::shared_ptr<const Origin> cause;
  // The load or copy of unwritten bytes of which shared memory holds a mere copy.
  std::shared_ptr<const Origin> source;
};

// What an Origin's lanes loaded.
struct Loaded {
  Space space = Space::global;
  Mask lanes = 0;
  std::uint32_t bytes = 0;               // of a lane
  std::array<std::uint64_t, 32> places;  // by lane: place_of()
  std::bitset<256> parts;  // which sets of undefined bits its partly defined bytes had
};

// A use of undefined bytes, to be reported unless another thread writes them before the block's
// next barrier. Then the two race, and another order would have defined the bytes.
struct PendingUse {
  FindingKey key;
  Finding finding;
  Space space = Space::global;
  std::uint64_t address = 0, bytes = 0;
  Who who;                     // the thread that loaded the bytes
  std::uint64_t barriers = 0;  // UndefinedBlock::barriers at the load
};

struct UndefinedBlock;

// Why a word of local memory is undefined although its lane has stored to it.
struct LocalCause {
  std::shared_ptr<const Origin> load;  // of the value stored, or of what it was computed from
  bool derived = false;                // it was computed
};

struct UndefinedWarp {
  std::vector<Mask> local;  // by byte of local memory: the lanes that have written it
  // The undefined bits of those that are defined in part, by byte * 32 + lane.
  std::unordered_map<std::uint64_t, std::uint8_t> partly;
  // Of the undefined bytes that the lane has stored: where they come from, by word * 32 + lane.
  std::unordered_map<std::uint64_t, LocalCause> causes;
};

struct UndefinedCluster {
  std::pair<std::uint64_t, std::uint64_t> id;  // its launch and number
  std::vector<UndefinedBlock*> blocks;         // by rank; null: it has ended
};

struct UndefinedBlock {
  std::uint16_t rank = 0;
  shadow::Bits shared;   // undefined bytes of shared memory
  shadow::Bits copied;   // of them, those written by a copy or store of undefined bytes
  shadow::Bits derived;  // of the latter, those computed from undefined bytes
  std::unique_ptr<shadow::PartlyDefined<shadow::Bits>> partly;  // of the undefined; null: none
  std::unordered_map<std::uint64_t, std::shared_ptr<const Origin>> causes;  // by copied word
  std::shared_ptr<UndefinedCluster> cluster;
  std::vector<UndefinedWarp> warps;
  std::vector<Origin> origins;                               // by UndefinedBytes::origin - 1
  std::vector<Loaded> loaded;                                // by the same
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;  // of origins, by warp and instruction
  std::vector<PendingUse> pending;
  std::uint64_t barriers = 0;  // number of its completed barriers

  UndefinedBlock* peer(std::uint16_t of) const {
    return of < cluster->blocks.size() ? cluster->blocks[of] : nullptr;
  }
  std::uint8_t undefined_bits(std::uint64_t at) const {
    return partly ? partly->undefined(at) : 0xff;
  }
  void define_partly(std::uint64_t at, std::uint8_t undefined);
};

constexpr std::uint64_t word = 4;  // bytes of shared or local memory with one cause

// Which of a lane's bytes must be undefined: any of them, or all.
enum class Extent : std::uint8_t { any, all };

class UndefinedGlobal {
 public:
  shadow::ByteSet known;      // allocations that are followed
  shadow::ByteSet undefined;  // undefined bytes
  shadow::ByteSet stored;     // of them, those where a kernel has stored undefined bytes

  void begin(std::uint64_t address, std::uint64_t bytes) {
    write(address, bytes);
    known.insert(address, bytes), undefined.insert(address, bytes);
  }
  void end(std::uint64_t address, std::uint64_t bytes) {
    known.erase(address, bytes);
    write(address, bytes);
  }
  void write(std::uint64_t address, std::uint64_t bytes) {
    undefined.erase(address, bytes);
    if (!stored.never_used()) stored.erase(address, bytes);
    if (Partly* const p = partly_.load(std::memory_order_acquire)) p->erase(address, bytes);
  }
  bool is_partly_defined(std::uint64_t address, std::uint64_t bytes) const {
    const Partly* const p = partly_.load(std::memory_order_acquire);
    return p && p->has_any(address, bytes);
  }
  std::uint8_t undefined_bits(std::uint64_t address) const {
    const Partly* const p = partly_.load(std::memory_order_acquire);
    return p ? p->undefined(address) : 0xff;
  }
  void define_partly(std::uint64_t address, std::uint8_t undefined);
  // A copy from memory to memory, after write(to, bytes).
  void copy(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    undefined.insert_moved(undefined, from, to, bytes);
    if (!stored.never_used()) stored.insert_moved(stored, from, to, bytes);
    if (Partly* const p = partly_.load(std::memory_order_acquire)) p->insert_moved(from, to, bytes);
  }

 private:
  using Partly = shadow::PartlyDefined<shadow::ByteSet>;
  std::unique_ptr<Partly> made_;
  std::once_flag once_;
  std::atomic<Partly*> partly_ = nullptr;  // null: no byte was ever defined in part
};

// The lanes of `mask` whose bytes, `from` to `from + bytes` in each access, are undefined.
Mask undefined_lanes(const Access& access, const UndefinedGlobal& global,
                     const UndefinedBlock& block, Mask mask, std::uint32_t from,
                     std::uint32_t bytes, Extent extent);
// The lanes of `mask` have written defined bytes.
void write_lanes(const Access& access, UndefinedGlobal& global, UndefinedBlock& block, Mask mask);
// The same for a range of the block's shared memory.
void write_shared(UndefinedBlock& block, std::uint64_t at, std::uint64_t bytes);
// The lanes of `mask` have written undefined bytes. `stored`: of which lanes
// UndefinedGlobal::stored keeps them.
void write_undefined(const Access& access, UndefinedGlobal& global, UndefinedBlock& block,
                     Mask mask, std::uint32_t from, std::uint32_t bytes, Mask stored);

// The lanes of `mask` have stored values of `load`, or computed from it, to local memory. Words of
// which some bytes are defined keep no cause.
void write_cause(const Access& access, UndefinedBlock& block, Mask mask,
                 const std::shared_ptr<const Origin>& load);
// Why the lane's word of local memory is undefined; null: it has not stored to it.
const LocalCause* cause_at(const UndefinedBlock& block, std::uint32_t warp, unsigned lane,
                           std::uint64_t address);

// Where a lane accesses: an address, or an offset and the rank of the block that owns the memory.
std::uint64_t place_of(const Access& access, const UndefinedBlock& block, unsigned lane);
// The lanes of `mask` that access bytes that are defined in part.
Mask partly_lanes(const Access& access, const UndefinedGlobal& global, const UndefinedBlock& block,
                  Mask mask);
// The undefined bits of one undefined byte of a lane's access.
std::uint8_t undefined_bits(const Access& access, const UndefinedGlobal& global,
                            const UndefinedBlock& block, unsigned lane, std::uint32_t byte);
// The lane has left only these bits of the byte undefined. Call it after write_undefined().
void define_partly(const Access& access, UndefinedGlobal& global, UndefinedBlock& block,
                   unsigned lane, std::uint32_t byte, std::uint8_t undefined);

}  // namespace inflight::check::uninitialised
