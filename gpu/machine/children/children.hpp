// The kernels, copies and fills that the threads of a grid launch, ordered by the grid's streams
// and events (CUDA Programming Guide, "CUDA Dynamic Parallelism"). It says what may begin next, and
// runs nothing.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/async/timing.hpp"
#include "gpu/machine/children/transfer.hpp"
#include "gpu/machine/config/launch.hpp"

namespace inflight::machine {

// A thread of the grid.
struct ThreadOfGrid {
  std::uint64_t block = 0;  // linear
  std::uint32_t thread = 0;
  auto operator<=>(const ThreadOfGrid&) const = default;
};

struct Child {
  Launch launch;  // without a kernel: a transfer
  Transfer transfer;
  // The thread that launched it, and its grid's kernel and shape.
  ThreadOfGrid by;
  const Kernel* parent = nullptr;
  Dim3 parent_grid, parent_block;
  std::uint64_t number() const { return launch.id; }
};

// Thread-safe.
class Children {
 public:
  // Handles of predefined streams.
  static constexpr std::uint64_t null_stream = 0, legacy_stream = 1, thread_stream = 2,
                                 tail_stream = 3, detached_stream = 4;

  explicit Children(const async::Timing& timing) : timing_(timing), random_(timing.seed) {}

  // --- called by threads
  // The shape of a kernel launch, stored under the address of its argument buffer.
  void prepare(std::uint64_t buffer, Launch launch);
  std::optional<Launch> take_prepared(std::uint64_t buffer);
  std::vector<std::uint64_t> prepared() const;  // buffers without a launch so far

  // Streams and events live as long as the grid: an H200 accepts those that are destroyed already.
  std::uint64_t create_stream();
  std::uint64_t create_event();
  bool has_stream(std::uint64_t stream) const;  // created by create_stream
  bool has_event(std::uint64_t event) const;
  // Both concern the work that is in the stream at the time of the call. False: there is no such
  // stream or event, or it cannot be waited for. `own`: the null stream is the thread's own.
  bool record(std::uint64_t event, std::uint64_t stream, const ThreadOfGrid& by, bool own);
  bool wait(std::uint64_t stream, std::uint64_t event, const ThreadOfGrid& by, bool own);
  // Whether there is such a stream, predefined or created.
  bool takes(std::uint64_t stream) const;
  // There must be such a stream.
  void launch(Child child, std::uint64_t stream, bool own);
  std::uint64_t pending() const;     // launches that have not begun, without tail launches
  bool busy() const;                 // some have not ended, apart from tail launches
  std::uint64_t tail_count() const;  // tail launches

  // The last error of a thread, as cudaError. `clear` resets it.
  int error(const ThreadOfGrid& thread, bool clear);
  void set_error(const ThreadOfGrid& thread, int code);

  // --- called by the runner
  // The next that may begin. Empty: none may before another has ended or been launched.
  std::optional<Child> next();
  void ended(std::uint64_t number);
  void drop();  // drops all that have not begun
  // Waits until something is launched or the grid has ended. False: the grid has ended and nothing
  // is pending.
  bool await();
  void close();  // the grid has ended
  // Takes the tail launches, in order.
  std::vector<Child> tails();

 private:
  struct Stream {
    std::vector<std::size_t> in_front;  // what its next launch waits for
  };
  struct Queued {
    Child child;
    std::vector<std::size_t> after;
    bool begun = false, ended = false;
  };
  Stream* find(std::uint64_t stream, const ThreadOfGrid& by, bool own);
  bool ready(const Queued& each) const;

  const async::Timing timing_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  async::Random random_;
  std::uint64_t next_handle_ = 0x1000;
  std::unordered_map<std::uint64_t, Launch> prepared_;
  std::unordered_map<std::uint64_t, Stream> streams_;
  std::map<ThreadOfGrid, Stream> null_streams_;  // by block, or by thread for a thread's own
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> events_;
  std::map<ThreadOfGrid, int> errors_;
  std::deque<Queued> queue_;
  std::size_t first_ = 0;  // all entries before it have begun
  std::uint64_t pending_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> running_;  // by number
  std::vector<Child> tails_;
};

}  // namespace inflight::machine
