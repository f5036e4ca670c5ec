// The detector of races. It compares every access and copy, by the order of events
// (gpu/check/order), with the earlier accesses that shadow memory keeps (gpu/check/shadow).
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "gpu/check/detect/races/aliases.hpp"
#include "gpu/check/detect/races/candidates.hpp"
#include "gpu/check/detect/races/host_order.hpp"
#include "gpu/check/detect/races/locations.hpp"
#include "gpu/check/detect/races/reporter.hpp"

namespace inflight::check::races {

inline constexpr std::uint32_t map_bytes = 128;  // of a tensor map

class Races : public Listener {
 public:
  explicit Races(const Session& session);
  Topic topics() const override;
  // races.cpp: launches, blocks, memory and the host
  void kernel_begin(const KernelBegin&) override;
  void kernel_end(const KernelEnd&) override;
  void child_launched(const ChildLaunched&) override;
  void block_begin(const BlockBegin&) override;
  void block_end(const BlockEnd&) override;
  void thread_exit(const ThreadExit&) override;
  void allocation(const Allocation&) override;
  void stream_edge(const StreamEdge&) override;
  void host_accessed(const HostAccess&) override;
  void host_touched(const HostTouch&) override;
  // accesses.cpp
  void accessed(const Access&) override;
  void fenced(const Fence&) override;
  // barriers.cpp
  void barrier(const Barrier&) override;
  void collective(const Collective&) override;
  // copies.cpp
  void copy_issued(const CopyIssued&) override;
  void copy_committed(const CopyCommitted&) override;
  void copy_waited(const CopyWaited&) override;
  // multiplies.cpp
  void multiply_issued(const MultiplyIssued&) override;
  void multiply_waited(const MultiplyWaited&) override;
  void check_multiplies(const Block& block, const order::Clock& known);
  void check_tensor_memory(Block& block, const order::Clock& known);
  // tensor_memory.cpp
  void tensor_allocated(const TensorAllocation&) override;
  void tensor_accessed(const TensorAccess&) override;
  void tensor_work_issued(const TensorWork&) override;
  void tensor_stepped(const TensorStep&) override;
  // mbarriers.cpp
  void mbarrier(const MbarrierOp&) override;

 private:
  bool is_of_own_map(const shadow::Conflict& conflict) const;
  bool is_of_answer(const shadow::Conflict& conflict) const;
  std::optional<Moment> moment(const Who& who);
  // Performs the cluster's pending mbarrier operation, and closes the block's log. Returns null if
  // the block is not known.
  Block* block_of(const Who& who);
  // The same for a weak load outside shared memory, which leaves the block's log open.
  Block* block_that_reads(const Who& who);
  Block* find(std::uint64_t launch, std::uint64_t block);
  // Takes the reads that the block's log has noted.
  void take_noted(Block& block);
  static Block* peer(const Block& block, std::uint16_t rank);
  shadow::Shadow& shadow_of(Block* owner) { return owner ? owner->shared : global_; }
  // Reports the conflicts of the last access by `block`. `access`: that access, if by threads;
  // `owner`: of the shared memory that it accessed.
  void report(const Who& who, Block& block, Space space, bool of_mbarrier = false,
              const Access* access = nullptr, const Block* owner = nullptr);

  // Checks a read of constant memory, which copies in streams may write.
  void constants_read(Block& block, const Access& access);
  // Checks an access by lanes whose bytes are in one space and, if shared, in one owner's memory.
  void touch(Block& block, Block* owner, const Access& access, Mask mask, bool write);
  void loaded(Block& block, Block* owner, const Access& access, Mask mask);
  // strong_accesses.cpp
  // The strong reads have observed the writes in block.observed. A poll observes none after the
  // one that it counts as having read.
  void observe(Block& block, Block* owner, const Access& access);
  void synchronise(Block& block, Block* owner, const Access& access, Mask mask, bool write,
                   bool before);
  void used_remotely(Block& block, Block& owner, const Who& who, Mask mask);
  static void check_begun(Block& block, const Block& owner, const Who& who, Mask mask);

  void map_used(Block& block, const CopyIssued& event);
  // map_order.cpp: tensor maps that their kernel changes
  void map_changed(const Block& block, const Access& access, Mask mask);
  void map_acquired(Block& block, const Fence& fence);
  void check_map_order(Block& block, const CopyIssued& event);
  void copy_of_threads(Block& block, const CopyIssued& event);
  void read_by_copy(Block& block, const CopyIssued& event, PlaceId place, Mask reading, bool whole);
  void bulk_copy(Block& block, const CopyIssued& event);
  void range(Block& block, const CopyIssued& event, unsigned lane, const shadow::Performer& by,
             Copy::Span span, bool write);

  Mbarrier& mbarrier_at(Block& owner, std::uint32_t offset);
  void check_published(Block& block, const Mbarrier& m, const Who& who);
  void check_init_fenced(const Block& block, const Mbarrier& m, const Who& who);
  // `row`: of the actor that uses it.
  void note_use(const Block& block, Mbarrier& m, const Who& who, order::Row row);
  void note_use(const Block& block, Mbarrier& m, const Who& who);
  // tcgen05.commit will arrive on an mbarrier of `owner`.
  void tensor_committed(Block& block, Block& owner, Mbarrier& m, const Who& who);
  void tensor_step(Block& block, const TensorStep& event);
  void used_after_release(Block& block, const TensorAllocation& event);
  void check_unused(const Block& block, Mbarrier& m, const Who& who);
  void finish(Cluster& cluster);
  void perform(const MbarrierOp& op);
  void counted(Block& block, const MbarrierOp& op, Mbarrier& m);
  void phase_complete(Mbarrier& m);
  void observed(Block& block, Mbarrier& m, std::uint32_t warp, Mask observers);

  void grid_barrier(const Barrier& event, Block& block);
  void check_end(Block& block);
  void ordered(const Allocation& event);
  // A thread's access of system scope and an access by host code, which is how flags are used.
  bool is_flag(const shadow::Conflict& conflict) const;
  void peeked(Block& block, const Who& who);
  void polled(Block& block, const Block* owner, const Access& event, Mask mask);
  // Tells of a pair that is a warning only. `owner`: of the shared memory.
  // If the pair lacks only the arrival of a staged copy's bytes, it is a warning.
  void excuse_staged(const order::Clock& knows, shadow::Conflict& conflict) const;
  void warn(const Scene& scene, const Block* owner, const shadow::Conflict& conflict);
  void check_load_before_atomic(Block& block, const Access& atomic, Mask mask);
  // A thread's access after a fence of system scope, which may be a flag for the host.
  bool publishes_to_host(const Block& block, const Access& access, Mask mask) const;
  // Such an access acquires from the host, and publishes to it.
  void acquire_from_host(Block& block, const Access& access, Mask mask);
  void publish_to_host(Block& block, const Access& access, Mask mask);

  struct Running {
    Launch facts;
    std::uint32_t number;
    order::Knowledge start, done;  // when it begins, at its end
  };
  const Running& running(std::uint64_t launch);
  // The place of an earlier read of the bytes that the host now writes. Remembers other touches.
  std::optional<PlaceId> read_before(const HostTouch& event, std::uint32_t launch, PlaceId place);
  Session session_;
  HostOrder host_;
  Reporter reporter_;
  shadow::Shadow global_{order::Space::global};
  Locations locations_;
  Aliases aliases_;
  RunningBlocks blocks_;
  Flags flags_;
  Candidates candidates_{flags_};
  std::atomic<std::uint64_t> memory_changes_{0};  // number of allocations and releases
  std::mutex mutex_;
  std::map<std::uint64_t, Running> running_;                     // by launch
  std::set<std::pair<std::uint64_t, std::uint64_t>> maps_used_;  // launch and tensor map
  // What the host has read since the last edge, with HostOrder::touch()'s number.
  struct HostReads {
    static constexpr std::size_t most = 4096;
    std::uint32_t launch = 0;
    std::map<std::uint64_t, PlaceId> places;  // by address
  };
  HostReads host_reads_;
  // The last change of each, by tensormap.replace or tensormap.cp_fenceproxy.
  struct MapChange {
    Who who;
    order::Row row = 0;
    order::Epoch epoch = 0;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, MapChange> map_changes_;
  std::atomic<bool> maps_change_{false};  // some launch has changed a map
  std::optional<MapChange> map_change(const Block& block, const Who& who, std::uint64_t map);
};

order::Order order_of(Order order);
order::Scope scope_of(Scope scope);
std::uint64_t key_of(const Block* owner, std::uint64_t address);

}  // namespace inflight::check::races
