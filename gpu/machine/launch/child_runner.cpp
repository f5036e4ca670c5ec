// Runs the children of a grid one after the other, on the thread that waits for the grid or on a
// separate one.
#include "gpu/machine/launch/child_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "gpu/check/names.hpp"
#include "gpu/machine/config/device_runtime.hpp"
#include "gpu/machine/launch/check.hpp"

namespace inflight::machine {
namespace {

Dim3 index_in(const Dim3& shape, std::uint64_t linear) {
  return {static_cast<std::uint32_t>(linear % shape.x),
          static_cast<std::uint32_t>(linear / shape.x % shape.y),
          static_cast<std::uint32_t>(linear / shape.x / shape.y)};
}

std::string text_of(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

// The line of a fault report that says which thread launched the child.
std::string launched_by(const Child& child) {
  return fmt::format("  launched by kernel {}, block {}, thread {}\n",
                     check::readable(child.parent->name),
                     text_of(index_in(child.parent_grid, child.by.block)),
                     text_of(index_in(child.parent_block, child.by.thread)));
}

void report(const Child& child, std::uint64_t stream, check::Listener* listener) {
  const Transfer& t = child.transfer;
  const LaunchOrigin& origin = child.launch.origin;
  check::HostAccess event;
  event.kind = t.fills ? check::HostAccess::Kind::set : check::HostAccess::Kind::copy;
  event.stream = stream;
  event.asynchronous = true;
  event.launch = child.number();
  event.origin = {origin.parent, origin.after, origin.tail};
  event.destination_pitch = t.destination_pitch, event.source_pitch = t.source_pitch;
  event.bytes = t.bytes, event.rows = t.rows;
  for (std::uint64_t slice = 0; slice < t.slices; ++slice) {
    event.destination = t.destination + t.written().offset(slice, 0);
    event.source = t.fills ? t.source : t.source + t.read().offset(slice, 0);
    listener->host_accessed(event);
  }
}

void move_row(const Transfer& t, std::uint64_t slice, std::uint64_t row) {
  auto* const to = reinterpret_cast<void*>(t.destination + t.written().offset(slice, row));
  if (t.fills)
    std::memset(to, t.value, t.bytes);
  else
    std::memmove(to, reinterpret_cast<const void*>(t.source + t.read().offset(slice, row)),
                 t.bytes);
}

// `parent`: the launch whose kernel requested it, or one of its ancestors.
Outcome transfer(const Child& child, const Launch& parent, const RunGrid& how) {
  const Transfer& t = child.transfer;
  if (t.written().empty()) return {};
  // The memory may have been released since the request was checked.
  const Program& program = *parent.kernel->program;
  if (!may_use(program.memory(), program.device(), t))
    return {FaultKind::illegal_address,
            fmt::format("illegal memory access: a kernel's {} uses memory that has been freed: to "
                        "{:#x}, from {:#x}\n",
                        t.fills ? "fill" : "copy", t.destination, t.source)};
  if (check::has(how.topics, check::Topic::host))
    report(child, parent.stream, how.options.listener);
  for (std::uint64_t slice = 0; slice < t.slices; ++slice)
    for (std::uint64_t row = 0; row < t.rows; ++row) move_row(t, slice, row);
  return {};
}

template <class Run>
void on_new_thread(Run run) {
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      run();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

bool cancelled(const Launch& launch) { return launch.cancel && launch.cancel->load(); }

Outcome run_child(const Child& child, const Launch& parent, const RunGrid& how,
                  std::vector<Child>& tails) {
  Outcome outcome =
      child.launch.kernel ? how.run(child.launch, how, tails) : transfer(child, parent, how);
  if (outcome.ok()) return outcome;
  outcome.report += launched_by(child);
  if (outcome.launch == 0) outcome.launch = child.number();
  return outcome;
}

// Runs `tails`, each followed by its own tail launches. `stop` is set to end them early. It may be
// null.
Outcome run_tails(std::vector<Child> tails, const Launch& parent, const RunGrid& how,
                  const std::atomic<bool>* stop) {
  Outcome outcome;
  std::reverse(tails.begin(), tails.end());  // the next one is at the back
  while (outcome.ok() && !tails.empty() && !cancelled(parent) && !(stop && *stop)) {
    Child next = std::move(tails.back());
    tails.pop_back();
    next.launch.origin.stop = stop;
    std::vector<Child> its_own;
    outcome = run_child(next, parent, how, its_own);
    tails.insert(tails.end(), std::make_move_iterator(its_own.rbegin()),
                 std::make_move_iterator(its_own.rend()));
  }
  return outcome;
}

}  // namespace

Outcome run_with_tails(const Launch& launch, const RunGrid& how) {
  std::vector<Child> tails;
  Outcome outcome = how.run(launch, how, tails);
  if (!outcome.ok() || tails.empty()) return outcome;
  return run_tails(std::move(tails), launch, how, launch.origin.stop);
}

ChildRunner::ChildRunner(Grid& grid, const RunGrid& run_grid)
    : grid_(grid), run_grid_(run_grid), random_(grid.options->timing.seed) {}

ChildRunner::~ChildRunner() {
  if (!concurrent_.joinable()) return;
  children_->close();
  concurrent_.join();
}

Children& ChildRunner::children() {
  if (Children* const known = known_.load(std::memory_order_acquire)) return *known;
  const std::lock_guard lock(mutex_);
  if (!children_) children_ = std::make_unique<Children>(grid_.options->timing);
  known_.store(children_.get(), std::memory_order_release);
  return *children_;
}

bool ChildRunner::busy() const {
  const Children* const known = known_.load(std::memory_order_acquire);
  return known && known->busy();
}

FaultKind ChildRunner::check(const Launch& launch) const {
  return machine::check(launch, *grid_.limits).kind;
}

void ChildRunner::launched() {
  using Policy = async::Timing::Policy;
  const Policy policy = grid_.options->timing.policy;
  // Some begin before the limit is reached, as on a chip.
  if (children().pending() * 2 >= grid_.launch->runtime->pending_limit()) return begin_concurrent();
  if (policy == Policy::late) return;
  if (policy == Policy::shuffled) {
    const std::lock_guard lock(mutex_);
    if (random_.below(2) != 0) return;
  }
  begin_concurrent();
}

void ChildRunner::note_polling() {
  const Children* const known = known_.load(std::memory_order_acquire);
  if (known && known->pending() != 0) begin_concurrent();
  grid_.launch->runtime->note_polling();
}

void ChildRunner::begin_concurrent() {
  const std::lock_guard lock(mutex_);
  if (concurrent_.joinable()) return;
  concurrent_ = std::thread([this] {
    try {
      while (children_->await()) work();
    } catch (...) {
      thrown_ = std::current_exception();
      grid_.stop = true;
    }
  });
}

void ChildRunner::work() {
  while (!grid_.stop.load() && !cancelled(*grid_.launch)) {
    auto child = children_->next();
    if (!child) return;
    run_one(std::move(*child));
  }
  children_->drop();
}

void ChildRunner::run_one(Child child) {
  const Launch& parent = *grid_.launch;
  child.launch.origin.stop = &grid_.stop;
  Outcome outcome;
  const auto run = [&] {
    std::vector<Child> tails;
    outcome = run_child(child, parent, run_grid_, tails);
    if (outcome.ok() && !tails.empty())
      outcome = run_tails(std::move(tails), parent, run_grid_, &grid_.stop);
  };
  // A host thread's stack has room for this many levels.
  constexpr unsigned levels = 32;
  if (child.launch.origin.depth % levels == 0)
    on_new_thread(run);
  else
    run();
  children_->ended(child.number());
  if (!outcome.ok()) grid_.fail(std::move(outcome));
}

void ChildRunner::finish() {
  if (!has_children()) return;
  children_->close();
  if (concurrent_.joinable())
    concurrent_.join();
  else
    work();
  for (const std::uint64_t buffer : children_->prepared()) grid_.memory->release(buffer);
  if (thrown_) std::rethrow_exception(thrown_);
}

std::vector<Child> ChildRunner::tails() {
  return has_children() ? children_->tails() : std::vector<Child>();
}

}  // namespace inflight::machine
