// The fix that a finding names fits what separates the two accesses.
#include "gpu/check/detect/races/words.hpp"

#include <gmock/gmock.h>

namespace inflight::check::races {
namespace {

using shadow::Conflict;
using shadow::Why;
using testing::HasSubstr;
using testing::Not;

constexpr const char *block_barrier = "__syncthreads()", *cluster_barrier = "cluster.sync()",
                     *release = "a release of gpu scope", *grid_wait = "griddepcontrol.wait",
                     *streams = "cudaStreamWaitEvent";

// A copy of one thread in flight, and an access by another thread.
Words in_flight(Pair pair, Initiator copy = Initiator::bulk_copy) {
  Conflict c;
  c.why = Why::not_observed;
  c.earlier.write = true;
  pair.earlier = copy;
  return words_of(c, pair);
}
// A copy that begins before another thread is done.
Words too_early(Pair pair) {
  Conflict c;
  c.earlier.write = c.later.write = true;
  pair.later = Initiator::bulk_copy;
  return words_of(c, pair);
}

Pair blocks_of_a_cluster() {
  Pair pair;
  pair.same_block = pair.same_warp = false;
  return pair;
}
Pair blocks() {
  Pair pair = blocks_of_a_cluster();
  pair.same_cluster = false;
  return pair;
}
Pair kernels() {
  Pair pair = blocks();
  pair.same_launch = false;
  return pair;
}
Pair dependent_kernels() {
  Pair pair = kernels();
  pair.same_stream = pair.dependent = true;
  return pair;
}

TEST(Words, NameTheBarrierThatBothReach) {
  EXPECT_THAT(in_flight({}).remedy, HasSubstr(block_barrier));
  EXPECT_THAT(too_early({}).remedy, HasSubstr(block_barrier));
  EXPECT_THAT(in_flight(blocks_of_a_cluster()).remedy, HasSubstr(cluster_barrier));
  EXPECT_THAT(too_early(blocks_of_a_cluster()).remedy, HasSubstr(cluster_barrier));
  for (const Words& words : {in_flight(blocks()), too_early(blocks())}) {
    EXPECT_THAT(words.remedy, HasSubstr(release));
    EXPECT_THAT(words.remedy, Not(HasSubstr(block_barrier)));
  }
}

TEST(Words, NameTheOrderOfKernels) {
  for (const Words& words :
       {in_flight(kernels()), too_early(kernels()), in_flight(kernels(), Initiator::transaction)})
    EXPECT_THAT(words.remedy, HasSubstr(streams));
  for (const Words& words : {in_flight(dependent_kernels()), too_early(dependent_kernels())}) {
    EXPECT_THAT(words.remedy, HasSubstr(grid_wait));
    EXPECT_EQ(words.rule, "PTX ISA, griddepcontrol");
  }
}

}  // namespace
}  // namespace inflight::check::races
