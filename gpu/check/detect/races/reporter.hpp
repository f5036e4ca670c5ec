// Turns conflicts into findings.
#pragma once
#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/races/state.hpp"
#include "gpu/check/detect/races/words.hpp"

namespace inflight::check::races {

// The later access of a conflict.
struct Scene {
  Who who;                       // its threads; no instruction: the host
  Space space = Space::global;   // of the bytes
  const Block* block = nullptr;  // the accessing block; null: the host
  // One of the two accesses is the initialisation or invalidation of an mbarrier in these bytes.
  bool of_mbarrier = false;
};

class Reporter {
 public:
  Reporter(const Session& session, const Launches& launches)
      : session_(session), launches_(launches) {}

  void conflict(const Scene& scene, const shadow::Conflict& conflict) {
    if (repeats(scene, conflict)) return;
    const auto make = [&] { return finding_of(scene, conflict); };
    const FindingKey key = key_of(scene, conflict);
    if (const auto suspect = suspect_of(scene, conflict))
      session_.findings.add_consequence(key, *suspect, make);
    else
      session_.findings.add(key, make);
  }
  // The mbarrier whose count may be what lets the two meet, if a copy that completes on one is in
  // the conflict.
  std::optional<Suspect> suspect_of(const Scene& scene, const shadow::Conflict& conflict) const;
  FindingKey key_of(const Scene& scene, const shadow::Conflict& conflict) const;
  Finding finding_of(const Scene& scene, const shadow::Conflict& conflict) const;
  PlaceId line_of(PlaceId place) const { return session_.places.line_of(place); }
  // A thread uses an mbarrier whose initialisation is not published to it.
  void unpublished(const Who& who, const Mbarrier& mbarrier, bool other_block);
  // A copy of the async proxy completes on an mbarrier that no fence has published to that proxy.
  void init_not_fenced(const Who& who, const Mbarrier& mbarrier);
  // An operation by threads of another block, or a wait for such arrivals, without a scope.
  void without_scope(const Who& who, const Mbarrier& mbarrier);
  // Nothing orders the use of the mbarrier before its invalidation.
  void used_beside_inval(const Who& user, const Who& by, const Mbarrier& mbarrier);
  // The mbarrier that a copy names is not in the block that it writes to.
  void names_other_block(const CopyIssued& copy);
  // A kernel changes a tensor map, and nothing orders that and `user`, its copy that uses the map.
  // `early_fence`: the fence that acquires it is not ordered after the change, though the copy is.
  void map_unordered(const Who& user, const Who& writer, std::uint64_t map, bool early_fence);
  void map_unordered(const Scene& scene, const shadow::Conflict& conflict);
  // A store or copy writes bytes of a live mbarrier.
  void overwritten(const Who& who, const Mbarrier& mbarrier, std::uint64_t address,
                   std::uint64_t bytes);
  // The block ends while the copy may read or write its shared memory.
  void ends_with(const Block& block, const Copy& copy);
  // The block ends while the multiplication may read its shared memory.
  void ends_with(const Multiplies::Last& multiply);
  // A block uses the shared memory of another one that has or may have ended.
  void peer_exited(const Who& who, std::uint16_t rank);
  // Nothing orders the use after the begin of that block.
  void peer_not_begun(const EarlyUse& use);

 private:
  Finding map_finding(Party user, Party writer, const Bytes& bytes, bool early_fence);
  // Whether both are one execution of a bulk store that each lane of a warp issues, all with the
  // same data.
  bool repeats(const Scene& scene, const shadow::Conflict& conflict) const;
  PlaceId place_of(const Who& who) { return session_.places.of(who); }
  Party party(const Scene& scene, const shadow::Side& side, bool later, std::string did) const;
  Bytes bytes_of(const Who& who, Space space, std::uint64_t address, std::uint64_t count) const;
  std::vector<Party> in_flight(const Block* block, order::Row row) const;
  bool is_swapped(const Scene& scene, const shadow::Conflict& conflict, FindingKind kind) const;
  Pair pair_of(const Scene& scene, const shadow::Conflict& conflict) const;
  // Adds how the two synchronise, which only the text needs.
  void explain(const Scene& scene, const shadow::Conflict& conflict, Pair& pair) const;
  // For a copy that completes on an mbarrier: the accessing warp's last wait on it, if that did not
  // return that the phase is complete. Otherwise null.
  const Who* unanswered(const Scene& scene, const shadow::Conflict& conflict) const;

  Session session_;
  const Launches& launches_;
};

}  // namespace inflight::check::races
