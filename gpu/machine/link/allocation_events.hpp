// Memory's terms in those of gpu/check.
#pragma once
#include "gpu/check/events/memory.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::machine {

constexpr check::Allocation::Kind event_kind(AllocationKind kind) {
  using Kind = check::Allocation::Kind;
  switch (kind) {
    case AllocationKind::device:
      return Kind::device;
    case AllocationKind::managed:
      return Kind::managed;
    case AllocationKind::host:
      return Kind::host;
    case AllocationKind::variable:
      return Kind::variable;
    case AllocationKind::constant:
      return Kind::constant;
    case AllocationKind::heap:
      break;
  }
  return Kind::heap;
}

}  // namespace inflight::machine
