// The state that the detector of races keeps for each running block.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/detect/races/constants.hpp"
#include "gpu/check/detect/races/launches.hpp"
#include "gpu/check/detect/races/locations.hpp"
#include "gpu/check/detect/races/repeats.hpp"
#include "gpu/check/detect/races/tensor_ledger.hpp"
#include "gpu/check/finding/places.hpp"
#include "gpu/check/order/block.hpp"
#include "gpu/check/shadow/shadow.hpp"

namespace inflight::check::races {

struct Block;
struct Mbarrier;

// A copy that counts as in flight: no thread of the block is known to have observed its completion.
struct Copy {
  struct Span {
    Block* owner = nullptr;  // of the shared memory; null: global memory
    std::uint64_t address = 0, bytes = 0;
  };
  std::uint64_t id = 0;  // CopyIssued::id
  Completion completion = Completion::thread_group;
  Who who;
  PlaceId place = no_place;
  std::uint32_t bytes = 0;
  order::Mask reading = 0, writing = 0;  // lanes that have not waited for its reads, its writes
  bool from_shared = false, to_shared = false;
  std::array<std::uint64_t, lanes> from{};  // of cp.async: each lane's source minus destination
  shadow::Performer by;  // of cp.async and bulk groups: row of the writes, and the epoch
  // Only for a copy that completes on an mbarrier:
  Mbarrier* on = nullptr;
  Block *source = nullptr, *destination = nullptr;  // owners of the shared memory
  order::Knowledge issued;
  std::vector<Span> spans;
  bool landed = false;          // its bytes have been counted on the mbarrier
  std::uint64_t completed = 0;  // Mbarrier::completed at its issue
  bool before_init = false;     // the mbarrier was not initialised when the copy was issued
};

struct Mbarrier {
  Block* owner = nullptr;
  std::uint32_t offset = 0;
  order::Mbarrier order;
  bool live = false;  // initialised and not invalidated
  // Its initialisation.
  Who who;
  PlaceId place = no_place;
  order::Row row = 0;
  order::Epoch epoch = 0;
  bool fenced = false;  // a fence published its initialisation, also by later relaxed operations
  Who remote;           // threads of another block that arrived last; no lanes: none
  // Arrivals that happen when earlier copies are complete (cp.async.mbarrier.arrive). What they
  // publish is computed when the phase completes.
  struct Arrival {
    std::uint32_t warp;
    order::Mask expected;  // lanes that have not arrived
    order::LaterArrival knows;
    order::Place place;
    order::Mask arrived = 0;  // in this phase
    order::Scope scope = order::Scope::cta;
  };
  std::vector<Arrival> arrivals;
  bool news = false;            // a phase is complete that no thread has observed
  std::uint64_t completed = 0;  // number of its complete phases
  // Of each warp the last wait that returned false, or whose result its threads ignore.
  std::vector<Who> unanswered;
  // Since its initialisation: the last operations of each warp, each lane in one of them, in any
  // order.
  struct Use {
    Who who;
    order::Row row;
    order::Epoch epoch;
    std::uint64_t number;  // increases with each use
  };
  std::vector<Use> uses;
  std::uint64_t next_use = 0;
};

// Another block's use of a block's shared memory.
struct RemoteUse {
  order::Row row;
  order::Mask lanes;
  order::Epoch epoch;
  PlaceId place;
  Who who;
};

// A use of another block's shared memory by a thread that does not know that the block has begun.
struct EarlyUse {
  Who who;
  std::uint16_t rank = 0;  // of the other block
  bool allocates = false;  // it allocates tensor memory in both blocks
};

// A warp's wgmma operations: the epoch of each, beginning with id `first`, and the last execution
// of each instruction.
struct Multiplies {
  struct Last {
    PlaceId place;
    Who who;
    order::Epoch epoch;
  };
  std::uint64_t first = 0;
  std::vector<order::Epoch> epochs;
  std::vector<Last> last;
};

struct Cluster {
  std::uint64_t id = 0;        // in its launch, as BlockBegin has it
  std::vector<Block*> blocks;  // by rank
  std::uint32_t running = 0;
  order::BarrierState barrier;
  std::vector<std::unique_ptr<Copy>> transactions;  // in the order of issue
  // An mbarrier operation to be performed once all lanes that execute it in turn are merged.
  std::optional<MbarrierOp> pending;
  std::unique_ptr<TensorLedger> tensor;  // made on first use
};

struct Block {
  Block(const order::Block::Shape& shape, const order::Knowledge& start)
      : order(shape, start), warps(order.warps()) {}
  std::uint64_t launch = 0, linear = 0;
  std::uint16_t rank = 0;
  std::shared_ptr<Cluster> cluster;
  order::Block order;
  shadow::Shadow shared{order::Space::shared};
  std::array<std::unique_ptr<order::BarrierState>, 16> barriers;
  order::BarrierState& barrier(std::uint32_t id) {
    auto& state = barriers[id % barriers.size()];
    if (!state) state = std::make_unique<order::BarrierState>();
    return *state;
  }
  shadow::ReadLog* log = nullptr;  // open for reads of `shared`; null: none
  OwnLocations locations;
  std::unordered_map<std::uint32_t, std::unique_ptr<Mbarrier>> mbarriers;
  Mbarrier* last_mbarrier = nullptr;          // the last that was looked up
  std::vector<std::uint64_t> live_words;      // a bit for each 8 bytes that hold a live mbarrier
  std::vector<std::unique_ptr<Copy>> copies;  // cp.async and bulk groups, in the order of issue
  std::vector<RemoteUse> remote;
  std::vector<order::Mask> peers_begun;  // by rank and warp: lanes that know that the block has
  std::optional<EarlyUse> early;         // the first
  std::unordered_map<std::uint32_t, Multiplies> multiplies;  // by warp
  // Threads that have exited since the cluster's last barrier.
  struct Exit {
    std::uint32_t warp;
    order::Mask mask;
  };
  std::vector<Exit> exits;
  bool some_ended = false;                  // some of its threads have exited
  bool barrier_without_exited = false;      // a barrier of all threads completed without those
  std::vector<shadow::Conflict> conflicts;  // of the current access
  order::Observations observed;             // by the current access
  // A cache of conflicts already reported, because programs can have millions.
  struct Reported {
    PlaceId earlier = no_place, later = no_place;
    std::uint16_t how = 0;
    bool operator==(const Reported&) const = default;
  };
  std::array<Reported, 32> reported;
  // The last bulk copy, which a warp's lanes issue in turn. One execution has one epoch.
  struct BulkIssue {
    std::uint32_t warp = 0, instruction = nothing;
    order::Mask lanes = 0;
  };
  BulkIssue bulk_issue;
  std::array<std::uint64_t, 8> maps{};  // the last tensor maps that its copies have used
  std::size_t map_count = 0;
  // The fence that acquires a tensor map which another warp has changed: the first that comes after
  // the change, or the last that does not.
  struct MapFence {
    std::uint64_t map = 0;
    order::Row row = 0;  // of the change
    order::Epoch epoch = 0;
    bool ordered = false;
  };
  std::vector<MapFence> map_fences;
  // A cache of the places of instructions, large enough for an unrolled loop.
  struct Known {
    std::uint32_t instruction = nothing;
    PlaceId place = no_place;
  };
  std::array<Known, 64> places;
  PlaceId place_of(const Who& who, Places& all) {
    Known& known = places[who.instruction % places.size()];
    if (known.instruction != who.instruction) known = {who.instruction, all.of(who)};
    return known.place;
  }
  Repeats repeats;
  Constants constants;
  bool ended = false;
  std::uint32_t accesses = 0;        // so far, of all threads
  std::vector<std::uint32_t> peeks;  // instructions known to candidates_
  // A warp's last strong read, because polling repeats the same read.
  struct LastRead {
    std::uint64_t location = 0, writes = 0;
    order::Mask lanes = 0;
    order::Order order = order::Order::relaxed;
    order::Scope scope = order::Scope::cta;
    bool operator==(const LastRead&) const = default;
  };
  // A warp's last weak load since the last barrier of the block.
  struct LastLoad {
    std::uint64_t address = 0;  // of the first lane
    order::Mask lanes = 0;
    std::uint32_t instruction = nothing;
  };
  // The lanes that have acquired what the host last published (HostOrder::news).
  struct AcquiredFromHost {
    order::Mask lanes = 0;
    std::uint64_t news = 0;
  };
  // The lanes that have published to the host what they did before a fence.
  struct PublishedToHost {
    std::shared_ptr<const order::Patterns::Fence> fence;
    order::Mask lanes = 0;
  };
  struct Warp {
    LastRead last_read;
    LastLoad last_load;
    std::uint64_t last_poll = 0;  // a sum of its last load of flags
    AcquiredFromHost acquired_from_host;
    PublishedToHost published_to_host;
    std::uint32_t last_sync = 0;  // `accesses` when its lanes last synchronised
  };
  std::vector<Warp> warps;

  void set_live(const Mbarrier& m, bool live);
  // The live mbarrier in these bytes, or null.
  Mbarrier* living_in(std::uint64_t address, std::uint64_t bytes) const;
};

// What the threads of a block know together, at its end. Loose knowledge counts.
order::Clock known_in(const Block& block);

// The running blocks, by launch and linear index.
class RunningBlocks {
 public:
  Block& begin(const BlockBegin& event, const Launch& launch, std::uint32_t number,
               const order::Knowledge& start);
  // Returns null if the block is not known.
  Block* find(std::uint64_t launch, std::uint64_t block) { return blocks_.find(launch, block); }
  // Removes a cluster all of whose blocks have ended.
  void forget(const Cluster& cluster);
  void forget_launch(std::uint64_t launch);

 private:
  Blocks<Block> blocks_;
  Blocks<std::shared_ptr<Cluster>> clusters_;
};

}  // namespace inflight::check::races
