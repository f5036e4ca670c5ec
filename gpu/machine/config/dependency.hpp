// Launches that overlap: what griddepcontrol needs from the launcher (PTX ISA, griddepcontrol).
#pragma once

namespace inflight::machine {

// A launch that runs: GridRun of launch/launch.cpp.
class RunningLaunch {
 protected:
  ~RunningLaunch() = default;
};

// A launch that is prepared while the one before it in the stream runs.
class NextLaunch {
 public:
  virtual ~NextLaunch() = default;
  // It begins once `previous` has ended without a fault.
  virtual void follow(RunningLaunch& previous) = 0;
};

// The later grids that may begin before a launch has ended. Called from any of its threads.
class Dependents {
 public:
  virtual ~Dependents() = default;
  // Called once: the first block has issued launch_dependents.
  virtual void requested() = 0;
  // Called once, after requested(): every block has issued it or ended. The last block continues
  // when this returns.
  virtual void may_begin() = 0;
  // Does it need all_begun()?
  virtual bool awaits_begin() const { return false; }
  // Called once: every block has begun. Not called if the launch ends earlier.
  virtual void all_begun() {}
  // Called at most once, by the launching thread while others run blocks: prepares the next launch
  // of the stream, which begins when this one ends. Null: there is none, or it cannot be prepared.
  virtual NextLaunch* prepare_next() { return nullptr; }
};

// The earlier grids that a launch waits for, if it began before they ended.
class Prerequisites {
 public:
  virtual ~Prerequisites() = default;
  virtual bool complete() const = 0;
  // One of the launch's `workers` threads has nothing to do until they are complete. Returns when
  // they are, or after a moment.
  virtual void rest(unsigned workers) = 0;
};

}  // namespace inflight::machine
