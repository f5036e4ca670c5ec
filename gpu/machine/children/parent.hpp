// A grid whose threads launch others, as they and its workers see it.
#pragma once
#include "gpu/machine/children/children.hpp"
#include "gpu/machine/report/outcome.hpp"

namespace inflight::machine {

// Thread-safe.
class Parent {
 public:
  virtual ~Parent() = default;
  virtual Children& children() = 0;  // made when first asked for
  // Is something that was launched running, or going to?
  virtual bool busy() const = 0;
  // What keeps a launch from its beginning.
  virtual FaultKind check(const Launch&) const = 0;
  // Something has been launched; threads of the grid do nothing but look at memory.
  virtual void launched() = 0;
  virtual void polls() = 0;
};

}  // namespace inflight::machine
