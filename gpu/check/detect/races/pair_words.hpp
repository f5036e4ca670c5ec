// Sentences on one kind of pair each, for words_of().
#pragma once
#include "gpu/check/detect/races/words.hpp"

namespace inflight::check::races {

// How what somebody does is called, and its completion observed.
struct DoerWords {
  std::string_view name;    // with its article
  std::string_view wait;    // of a copy: that its thread waits with, of its writes
  std::string_view commit;  // of a copy: what makes it one of a group
  std::string_view rule;
};
const DoerWords& words_of(Doer doer);
std::string_view memory(Space space);  // "shared memory"

// copy_words.cpp
Words in_flight_words(const shadow::Conflict& conflict, const Pair& pair);  // the copy came first
Words too_early_words(const shadow::Conflict& conflict, const Pair& pair);  // it came second
Words at_once_words();  // lanes copy to one place
Words fence_words(const shadow::Conflict& conflict, const Pair& pair);
// race_words.cpp
Words at_once_words(Space space);  // lanes write to one place
Words race_words(const shadow::Conflict& conflict, const Pair& pair);
Words program_words(const shadow::Conflict& conflict, const Pair& pair);
bool of_program(const Pair& pair);
Words texture_words();
Words lifetime_words(const Pair& pair);
Words mbarrier_words();

}  // namespace inflight::check::races
