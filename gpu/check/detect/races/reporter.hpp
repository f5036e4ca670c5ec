// Conflicts as findings.
#pragma once
#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/races/state.hpp"
#include "gpu/check/detect/races/words.hpp"

namespace inflight::check::races {

// Where a conflict showed.
struct Scene {
  Who who;                       // of the later access; no instruction: the host
  Space space = Space::global;   // of the bytes
  const Block* block = nullptr;  // that accesses; null: the host
  // The bytes are those of an mbarrier, whose initialisation or end is one of the two.
  bool of_mbarrier = false;
};

class Reporter {
 public:
  Reporter(const Session& session, const Launches& launches)
      : session_(session), launches_(launches) {}

  void conflict(const Scene& scene, const shadow::Conflict& conflict) {
    if (repeats(scene, conflict)) return;
    session_.findings.add(key_of(scene, conflict), [&] { return finding_of(scene, conflict); });
  }
  FindingKey key_of(const Scene& scene, const shadow::Conflict& conflict) const;
  Finding finding_of(const Scene& scene, const shadow::Conflict& conflict) const;
  PlaceId line_of(PlaceId place) const { return session_.places.line_of(place); }
  // A thread uses an mbarrier before it may know of its initialisation.
  void unpublished(const Who& who, const Mbarrier& mbarrier, bool other_block);
  // A store or copy writes where an mbarrier lives.
  void overwritten(const Who& who, const Mbarrier& mbarrier, std::uint64_t address,
                   std::uint64_t bytes);
  // The block ends while the copy may read or write its shared memory.
  void ends_with(const Block& block, const Copy& copy);
  // The block ends while the multiplication may read its shared memory.
  void ends_with(const Multiplies::Last& multiply);
  // The block may have ended, or has, when another uses its shared memory.
  void peer_exited(const Who& who, std::uint16_t rank);

 private:
  // Is it one execution of a bulk store that each lane of a warp issues? They write the same.
  bool repeats(const Scene& scene, const shadow::Conflict& conflict) const;
  PlaceId place_of(const Who& who) { return session_.places.of(who); }
  Party party(const Scene& scene, const shadow::Side& side, bool later, std::string did) const;
  Bytes bytes_of(const Who& who, Space space, std::uint64_t address, std::uint64_t count) const;
  std::vector<Party> in_flight(const Block* block, order::Row row) const;
  bool is_swapped(const Scene& scene, const shadow::Conflict& conflict, FindingKind kind) const;
  Pair pair_of(const Scene& scene, const shadow::Conflict& conflict) const;
  // Of a copy that completes on an mbarrier: the accessing warp's last wait there, if it did not
  // tell it that the phase is complete. Null: there is none.
  const Who* unanswered(const Scene& scene, const shadow::Conflict& conflict) const;

  Session session_;
  const Launches& launches_;
};

}  // namespace inflight::check::races
