// Order between the host, its streams, and the kernels and copies in them.
//
// A stream does pieces of work one after the other, which are numbered. Each kernel and each copy
// in one is a launch with a number of its own. When it has ended, all that it did is known to
// whatever comes after it: one range in a clock, and ranges of neighbours become one.
#pragma once
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "gpu/check/order/knowledge.hpp"

namespace inflight::order {

// One caller at a time.
class Streams {
 public:
  using Id = std::uint64_t;
  // Pieces of work of a stream whose end is remembered apart. Of an older one, what the oldest of
  // these knew counts: that can hide a conflict and never invents one.
  static constexpr std::size_t kept = 64;
  struct Launch {
    std::uint32_t number = 0;
    Knowledge knows;   // what its threads know when they begin
    Knowledge waited;  // if it is dependent: what those know that have waited for who is in front
    bool dependent = false;
  };

  // The host submits a piece of work, which comes after what the host knows.
  void submit(Id stream, std::uint64_t work);
  // It comes after another's.
  void after(Id stream, Id other, std::uint64_t other_work);
  // It begins, and it is done.
  void begin(Id stream, std::uint64_t work);
  void end(Id stream, std::uint64_t work);
  // What the piece of work does from now on is a step of a graph, which comes after what the work
  // comes after; and after another step of it. All of them are done when the work ends.
  // `dependent`: a kernel in it may begin before that of the other step has ended.
  void step(Id stream, std::uint64_t number);
  void step_after(Id stream, std::uint64_t other, bool dependent = false);
  // A kernel or copy in the piece of work that goes on. Past launch_limit, numbers repeat the last
  // one, which hides conflicts among those.
  // `dependent`: it may begin before the kernel in front of it has ended (griddepcontrol), and then
  // comes after what that one comes after.
  Launch launch(Id stream, bool dependent = false);
  // A block of that launch lets the next begin, by a thread that has waited for the kernels in
  // front, or has not. Where all have, the next begins behind those kernels' end.
  void lets_begin(Id stream, std::uint32_t launch, bool has_waited);
  // One that a kernel in that piece of work has launched, whose threads know so much.
  Launch child(Id stream, const Knowledge& knows);
  // What is known once it has ended.
  static Knowledge done(const Launch& launch);
  // One of the host's own: it is done when this returns.
  Launch on_host();

  void synchronise(Id stream, std::uint64_t work);  // the host knows that it is done
  void synchronise_all();                           // likewise of all that has begun
  // What goes on in the stream publishes, and gets.
  const Knowledge& known(Id stream) { return streams_[stream].now; }
  void learn(Id stream, const Knowledge& more) { streams_[stream].learn(more); }
  void learn_all(Id stream);  // all that has begun
  void host_learns(const Knowledge& more) { host_.join(more); }
  const Knowledge& host_knows() const { return host_; }

 private:
  struct Known {
    std::uint64_t work;
    Knowledge knows;
  };
  struct Now {
    Knowledge now, before;  // before: the last launch that is not dependent
    // Of the last launch: what those know that have waited, and whether it lets the next begin
    // then.
    std::uint32_t last = 0;
    Knowledge waited;
    enum class Lets : std::uint8_t { unknown, once_waited, early } lets = Lets::unknown;
    void learn(const Knowledge& more) { now.join(more), before.join(more); }
  };
  struct Stream : Now {
    std::deque<Known> submitted, ended;
    // Of a graph: what its first steps know, the step that goes on, and those in front of it.
    Now base;
    std::uint64_t step = 0;
    std::unordered_map<std::uint64_t, Now> steps;
  };
  std::uint32_t number();
  static const Knowledge& at_end(const Stream& stream, std::uint64_t work);
  std::unordered_map<Id, Stream> streams_;
  Knowledge host_;
  std::uint32_t next_ = 1;
};

}  // namespace inflight::order
