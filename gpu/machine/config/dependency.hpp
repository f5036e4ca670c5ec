// Launches that overlap: what griddepcontrol asks of whoever launched (PTX ISA, griddepcontrol).
#pragma once

namespace inflight::machine {

// The grids behind a launch that may begin before it has ended. Notified by any of its threads.
class Dependents {
 public:
  virtual ~Dependents() = default;
  // A block has issued launch_dependents; once.
  virtual void requested() = 0;
  // Every block has, or has ended, after requested(); once. The block that was the last goes on
  // when this returns.
  virtual void may_begin() = 0;
  // Is all_begun() of interest?
  virtual bool awaits_begin() const { return false; }
  // Every block has begun; once. A launch that ends early may never come to it.
  virtual void all_begun() {}
};

// The grids in front of a launch that began before they had ended.
class Prerequisites {
 public:
  virtual ~Prerequisites() = default;
  virtual bool complete() const = 0;
  // One of the launch's `workers` threads can do nothing before they are complete. Returns then, or
  // after a moment.
  virtual void rest(unsigned workers) = 0;
};

}  // namespace inflight::machine
