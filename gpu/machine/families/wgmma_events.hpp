// Reports the events of a wgmma.mma_async when a warp issues it.
#pragma once
#include "gpu/async/multiplies.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

void report_multiply(Warp& warp, const Op* op, std::uint64_t id, const async::MultiplyIssue& issue);

}  // namespace inflight::machine
