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

// In one stream, one of the two would wait for ever.
TEST(Words, StrengthenTheFlagsOfKernelsThatHandOver) {
  Conflict c;
  c.why = Why::weak_edge;
  c.earlier.write = true;
  const Words words = words_of(c, kernels());
  EXPECT_THAT(words.remedy, HasSubstr("release semantics"));
  EXPECT_THAT(words.remedy, Not(HasSubstr("one stream")));
  EXPECT_THAT(words.rule, HasSubstr("Causality Order"));
}

TEST(Words, LeaveAFlagForAPollingKernelInItsStream) {
  Conflict c;
  c.later.write = true, c.earlier.strong = true;
  Pair pair = kernels();
  pair.later = Initiator::host;
  EXPECT_THAT(words_of(c, pair).remedy, HasSubstr("cuStreamWriteValue32"));
  c.earlier.strong = false;
  EXPECT_THAT(words_of(c, pair).remedy, HasSubstr(streams));
}

TEST(Words, SayWhichOperationIsInTheWrongPlace) {
  using How = Meeting::How;
  const auto remedy = [](How how) {
    Conflict c;
    c.earlier.write = true;
    Pair pair;
    pair.same_warp = false;
    pair.meeting = {how, "thread (0,0,0) of block (1,0,0)", "a.cu:9", "a.cu:7", "a.cu:20"};
    return words_of(c, pair).remedy;
  };
  EXPECT_THAT(remedy(How::other_lane),
              HasSubstr("__syncwarp() between the write at a.cu:7 and the arrival of thread "
                        "(0,0,0) of block (1,0,0) at a.cu:9"));
  EXPECT_THAT(remedy(How::other_thread), HasSubstr("a barrier (__syncthreads(), or bar.sync"));
  EXPECT_THAT(remedy(How::arrives_after), HasSubstr("before the read at a.cu:20"));
  EXPECT_THAT(remedy(How::refills),
              HasSubstr("let the thread wait before the write at a.cu:7 for an mbarrier at which "
                        "the readers arrive after the read at a.cu:20"));
  EXPECT_THAT(remedy(How::arrives_first),
              HasSubstr("move the arrival at a.cu:9 behind the write at a.cu:7"));
  EXPECT_THAT(remedy(How::one_way), HasSubstr("an mbarrier at which the thread arrives after"));
  EXPECT_THAT(remedy(How::unknown), HasSubstr(block_barrier));
}

TEST(Words, SayHowFarTheIssuerOfACopyHasWaited) {
  using How = IssuerWait::How;
  const auto words = [](How how, std::uint32_t allowed = 0, std::uint32_t needed = 0) {
    Pair pair;
    pair.issuer = {how, allowed, needed};
    return in_flight(pair, Initiator::group_copy);
  };
  EXPECT_THAT(words(How::not_committed).sentence, HasSubstr("in no committed group"));
  EXPECT_THAT(words(How::not_committed).remedy, HasSubstr("cp.async.commit_group"));
  EXPECT_THAT(words(How::allowed_too_many, 3, 2).remedy,
              HasSubstr("cp.async.wait_group 2 instead of 3"));
  EXPECT_THAT(words(How::waited).remedy, Not(HasSubstr("wait_group")));
  EXPECT_THAT(words(How::waited).remedy, HasSubstr(block_barrier));
  EXPECT_THAT(words(How::not_waited).remedy, HasSubstr("cp.async.wait_group 0"));
}

TEST(Words, ReferToTheBytesThatAPhaseDidNotExpect) {
  Pair pair;
  pair.passed_by = true;
  const Words words = in_flight(pair, Initiator::transaction);
  EXPECT_THAT(words.sentence, HasSubstr("not all bytes of that phase were expected"));
  EXPECT_THAT(words.remedy, HasSubstr("transaction-count"));
}

}  // namespace
}  // namespace inflight::check::races
