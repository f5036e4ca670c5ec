// Order between the host, its streams, and the kernels and copies in them.
//
// A stream executes numbered pieces of work one after the other. Each kernel and each copy in one
// is a launch with its own number. When a launch has ended, all that it did is known to whatever
// comes after it. That is one range in a clock, and adjacent ranges merge.
#pragma once
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "gpu/check/order/knowledge.hpp"

namespace inflight::order {

// Not thread-safe: one caller at a time.
class Streams {
 public:
  using Id = std::uint64_t;
  // The number of a stream's ended pieces of work that are remembered. For an older one, the
  // knowledge of the oldest remembered one is used. That can hide a conflict but never report a
  // false one.
  static constexpr std::size_t kept = 64;
  struct Launch {
    std::uint32_t number = 0;
    Knowledge knows;   // what its threads know when they begin
    Knowledge waited;  // if dependent: what threads know that waited for the preceding kernels
    bool dependent = false;
  };

  // The number of destroyed streams that are remembered one by one. Of the others it is known what
  // they all did together, with the same effect.
  static constexpr std::size_t kept_destroyed = 128;

  // The program destroys a stream, whose work may not have ended yet.
  void destroyed(Id stream);
  // The host submits a piece of work, which comes after what the host knows.
  void submit(Id stream, std::uint64_t work);
  // The stream's work comes after that piece of another stream's work.
  void after(Id stream, Id other, std::uint64_t other_work);
  // The piece of work begins, and ends.
  void begin(Id stream, std::uint64_t work);
  void end(Id stream, std::uint64_t work);
  // step(): what the piece of work does from now on is a step of a graph. It comes after what the
  // whole piece of work comes after. step_after(): the step also comes after another step. All
  // steps are done when the work ends. `dependent`: a kernel of the step may begin before the
  // kernel of the other step has ended.
  void step(Id stream, std::uint64_t number);
  void step_after(Id stream, std::uint64_t other, bool dependent = false);
  // A kernel or copy in the current piece of work. Past launch_limit the last number is used again,
  // which hides conflicts among those launches.
  // `dependent`: it may begin before the preceding kernel has ended (griddepcontrol), and then
  // comes after what that kernel comes after. `programmatic`: it need only wait for the end of the
  // kernel right in front, which may come before the end of earlier ones if none of its threads
  // has waited for them.
  Launch launch(Id stream, bool dependent = false, bool programmatic = false);
  // A copy whose call returns once its source has been read. Its number stands for the arrival of
  // its bytes, and the number before it for the reading.
  Launch staged_copy(Id stream);
  // A thread of that launch lets the next launch begin. `has_waited`: that thread had waited for
  // the preceding kernels. If all such threads had, the next launch comes after those kernels.
  void launch_dependents(Id stream, std::uint32_t launch, bool has_waited);
  // A thread of the launch, in the current piece of work, has learnt this from elsewhere. What
  // comes after the launch knows it, also dependent launches that have begun.
  void learnt(Id stream, std::uint32_t launch, const Knowledge& more);
  // What threads of a dependent launch know that wait for the preceding kernels now.
  Knowledge waited(std::uint32_t launch) const;
  // A thread of that dependent launch has waited for the preceding kernels.
  void has_waited(Id stream, std::uint32_t launch);
  void ended(std::uint32_t launch) { dependents_.erase(launch); }
  // A launch by a kernel in the current piece of work. Its threads begin with `knows`.
  Launch child(Id stream, const Knowledge& knows);
  // What is known after the end of the launch, unless learnt() adds to it.
  static Knowledge done(const Launch& launch);
  // A launch that the host itself performs: it is done when this returns.
  Launch on_host();

  void synchronise(Id stream, std::uint64_t work);  // the host knows that the work is done
  // The same, but of staged copies in the work only that their sources have been read.
  void synchronise_staged(Id stream, std::uint64_t work);
  void synchronise_all();  // the same for all work that has begun
  // What the current work of the stream publishes, and what it acquires.
  const Knowledge& known(Id stream) { return streams_[stream].now; }
  void learn(Id stream, const Knowledge& more) { streams_[stream].learn(more); }
  void learn_all(Id stream);  // acquires all that has begun in any stream
  void host_learns(const Knowledge& more) { host_.join(more); }
  const Knowledge& host_knows() const { return host_; }

 private:
  struct Known {
    std::uint64_t work;
    Knowledge knows;
  };
  struct Now {
    Knowledge now, before;  // before: what the last launch that is not dependent comes after
    // The last launch: what its threads know that have waited, and when it lets the next begin.
    std::uint32_t last = 0;
    Knowledge waited;
    enum class Lets : std::uint8_t { unknown, once_waited, early } lets = Lets::unknown;
    // What is known at its end even if earlier kernels have not ended, and the piece of work.
    Knowledge alone;
    std::uint64_t last_work = 0;
    void learn(const Knowledge& more) { now.join(more), before.join(more), alone.join(more); }
  };
  struct Stream : Now {
    std::deque<Known> submitted, ended;
    std::uint64_t work = 0;  // the piece of work that began last
    // The last work with staged copies, and what is known once their sources have been read.
    std::uint64_t staged_work = 0;
    Knowledge staged;
    // Of a graph: what its first steps know, the current step, and the earlier ones.
    Now base;
    std::uint64_t step = 0;
    std::unordered_map<std::uint64_t, Now> steps;
  };
  std::uint32_t number();
  const Knowledge& at_end(Id id, std::uint64_t work);
  std::unordered_map<Id, Stream> streams_;
  std::deque<Id> destroyed_;  // that are remembered, the oldest first
  Knowledge forgotten_;       // what the others did
  Id last_forgotten_ = 0;
  std::unordered_map<std::uint32_t, Knowledge> dependents_;  // by number: Launch::waited
  Knowledge host_;
  std::uint32_t next_ = 1;
};

}  // namespace inflight::order
