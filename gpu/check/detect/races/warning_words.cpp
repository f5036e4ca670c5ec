// Texts for what PTX defines and CUDA C++ calls a data race, and for fences that chips do not need.
#include <fmt/format.h>

#include "gpu/check/detect/races/pair_words.hpp"

namespace inflight::check::races {

using shadow::Conflict;
using shadow::Excuse;
using shadow::Why;

namespace {

constexpr const char* rule = "C++ standard, [intro.races]: data race";

Words same_value(const Conflict& c, const Pair& pair) {
  const std::string who = c.why == Why::at_once ? "several lanes of a warp" : names_of(pair);
  return {fmt::format("{} write one value to the same {}, and nothing orders them: the value is "
                      "certain, but in C++ it is a data race",
                      who, memory(pair.space)),
          "let one thread write (if (threadIdx.x == 0)), or write by atomic stores: "
          "cuda::atomic_ref and store() with cuda::memory_order_relaxed, or atomicExch()",
          rule};
}

Words peek(const Pair& pair) {
  return {
      fmt::format("a plain load reads {} that another thread's atomic changes, before an atomic "
                  "of its own thread there: the atomic corrects what the load saw, but in C++ "
                  "it is a data race",
                  memory(pair.space)),
      "an atomic load: cuda::atomic_ref and load() with cuda::memory_order_relaxed", rule};
}

Words volatile_data(Conflict c, const Pair& pair) {
  const bool both = c.earlier.write && c.later.write;
  const std::string sentence = fmt::format(
      "{} {} the same {} by {}, and nothing orders the two{}: volatile neither releases nor "
      "acquires",
      names_of(pair), both ? "both write" : "read and write", memory(pair.space),
      c.earlier.update ? "an atomic and a volatile store" : "volatile accesses",
      c.why == Why::weak_edge ? too_weak : "");
  // What orders plain accesses orders these too.
  c.earlier.strong = c.later.strong = false;
  return {
      sentence,
      race_remedy(c, pair) + "; or cuda::atomic_ref in place of volatile, if any order is correct",
      rule};
}

Words unfenced_read() {
  return {
      "a copy writes to shared memory that was read through the generic proxy, and no proxy fence "
      "lies between: chips need none where the reads are complete, but PTX asks for one",
      "fence.proxy.async.shared::cta in each thread that read these bytes, after its reads and "
      "before the barrier or arrival for which the issuing thread waits",
      "PTX ISA, Memory Consistency Model: Proxies; fence.proxy.async"};
}

Words staged(const Conflict& c, const Pair& pair) {
  return {
      fmt::format("{} {} {} to which a copy from pageable host memory may still be on its way: the "
                  "call returns when the host's bytes have been read, and nothing else orders the "
                  "two",
                  pair.later == Initiator::host ? pair.later_work : "a kernel",
                  c.later.write ? "writes" : "reads", memory(pair.space)),
      "put the two into one stream, let the other stream wait for an event behind the copy "
      "(cudaEventRecord, cudaStreamWaitEvent), or call cudaStreamSynchronize() for the copy's "
      "stream; or copy by cudaMemcpy() from pinned memory (cudaMallocHost), which is done when it "
      "returns",
      "CUDA Runtime API, API synchronization behavior: Memcpy"};
}

}  // namespace

FindingKind warning_of(Excuse excuse) {
  if (excuse == Excuse::unfenced_read) return FindingKind::unfenced_async;
  if (excuse == Excuse::staged) return FindingKind::staged_copy;
  return excuse == Excuse::same_value ? FindingKind::same_value_writes
         : excuse == Excuse::peek     ? FindingKind::read_beside_atomics
                                      : FindingKind::unordered_volatile;
}

Words warning_words(const Conflict& c, const Pair& pair) {
  if (c.excuse == Excuse::unfenced_read) return unfenced_read();
  if (c.excuse == Excuse::staged) return staged(c, pair);
  if (c.excuse == Excuse::same_value) return same_value(c, pair);
  return c.excuse == Excuse::peek ? peek(pair) : volatile_data(c, pair);
}

}  // namespace inflight::check::races
