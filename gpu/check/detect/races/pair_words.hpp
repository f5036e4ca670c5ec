// The texts of words_of(), a function per kind of pair.
#pragma once
#include "gpu/check/detect/races/words.hpp"

namespace inflight::check::races {

// The name of what an Initiator performs, and how its completion is observed.
struct InitiatorWords {
  std::string_view name;    // with its article
  std::string_view wait;    // of a copy: the instruction that waits for its writes
  std::string_view commit;  // of a copy: the instruction that commits it to a group
  std::string_view rule;
};
const InitiatorWords& words_of(Initiator initiator);
std::string_view memory(Space space);  // "shared memory"

// Parts of what is said of threads and of copies.
inline constexpr std::string_view block_barrier = "a barrier (__syncthreads())";
inline constexpr std::string_view cluster_barrier =
    "(barrier.cluster.arrive.release and barrier.cluster.wait.acquire; cluster.sync())";
inline constexpr std::string_view gpu_release =
    "(cuda::atomic_ref, or __threadfence() on both sides of an atomic flag)";
inline constexpr std::string_view too_weak =
    ": the synchronisation between them is relaxed, or its scope is too small";

// copy_words.cpp
Words in_flight_words(const shadow::Conflict& conflict, const Pair& pair);  // the copy was first
Words too_early_words(const shadow::Conflict& conflict, const Pair& pair);  // the copy was second
Words at_once_words();  // lanes copy to one address
Words fence_words(const shadow::Conflict& conflict, const Pair& pair);
// race_words.cpp
Words at_once_words(Space space);  // lanes write to one address
Words race_words(const shadow::Conflict& conflict, const Pair& pair);
Words program_words(const shadow::Conflict& conflict, const Pair& pair);
bool of_program(const Pair& pair);
// How to order work of two launches, or of a launch and the host. Empty: both sides are of one
// launch.
std::string_view launches_remedy(const Pair& pair);
// The rule that orders them, or what `initiator` performs with the other side of its launch.
std::string rule_of(const Pair& pair, Initiator initiator);
std::string names_of(const Pair& pair);  // "two threads of a block"
std::string race_remedy(const shadow::Conflict& conflict, const Pair& pair);
Words texture_words();
Words constant_words();
Words lifetime_words(const Pair& pair);
Words mbarrier_words();
// warning_words.cpp
FindingKind warning_of(shadow::Excuse excuse);
Words warning_words(const shadow::Conflict& conflict, const Pair& pair);

}  // namespace inflight::check::races
