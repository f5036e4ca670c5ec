// The interface of a grid whose threads launch others, for those threads and its workers.
#pragma once
#include "gpu/machine/children/children.hpp"
#include "gpu/machine/report/outcome.hpp"

namespace inflight::machine {

// Thread-safe.
class Parent {
 public:
  virtual ~Parent() = default;
  virtual Children& children() = 0;  // created on first use
  // Is a launch running or pending?
  virtual bool busy() const = 0;
  // The reason that a launch cannot begin, or none.
  virtual FaultKind check(const Launch&) const = 0;
  // Notifies that something was launched; that a block has ended; that threads of the grid only
  // poll memory.
  virtual void launched() = 0;
  virtual void block_ended(std::uint64_t block) = 0;
  virtual void note_polling() = 0;
};

}  // namespace inflight::machine
