// Detects locks that threads take in different orders, whether or not a run comes to a standstill.
//
// A word is a lock that a thread holds from an atomic that spins (Access::spins) and changes it to
// the same thread's write of the old value. A thread that takes a lock while it holds another nests
// the two. A nesting counts once the thread has released both. It does not count if the thread read
// meanwhile what others wrote, because it may take the second lock only after they are done.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/locks/words.hpp"
#include "gpu/check/detect/waiting/cluster_state.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

using locks::Nesting;
using locks::Taking;
using locks::Word;

struct LaunchLocks {
  locks::LockWords words;
  locks::WrittenWords written;
  locks::LockOrder order;
};

struct Hold {
  std::uint64_t number = 0;
  Taking taking;
  bool informed = false;  // the thread has since read what others wrote
};

// A nesting that does not count yet.
struct Unconfirmed {
  Nesting nesting;
  std::uint64_t held = 0, wanted = 0;  // numbers; 0: released
};

struct ThreadLocks {
  // The lock that it tries to take, and the moment before it first looked.
  struct Look {
    Word lock;
    std::uint32_t turn = 0;
    std::optional<Moment> before;
  };
  std::optional<Look> look;
  std::vector<Hold> held;  // oldest first
  std::vector<Unconfirmed> nestings;
};

struct WarpLocks {
  Mask holding = 0;
  std::uint32_t turn = 0;  // changes as its threads may learn of others by other means than locks
};

struct BlockLocks {
  std::shared_ptr<LaunchLocks> launch;
  ClusterPlace place;
  std::unordered_map<std::uint32_t, ThreadLocks> threads;  // by number in the block
  std::vector<WarpLocks> warps;
  std::uint64_t numbers = 0;

  WarpLocks& warp(std::uint32_t number) {
    if (number >= warps.size()) warps.resize(number + 1);
    return warps[number];
  }
};

class Locks : public PerBlock<BlockLocks> {
 public:
  explicit Locks(const Session& session) : session_(session) {}
  Topic topics() const override {
    return Topic::accesses | Topic::addresses | Topic::barriers | Topic::mbarriers |
           Topic::collectives | Topic::blocks | Topic::allocations;
  }

  void accessed(const Access& access) override {
    if (!access.spins && running_.load(std::memory_order_relaxed) == 0) return;
    if ((access.space != Space::global && access.space != Space::shared) || !access.addresses)
      return;
    const bool strong = access.order != Order::weak || access.kind == Access::Kind::atomic ||
                        access.kind == Access::Kind::reduction;
    BlockLocks* const block = state(access.who, access.spins);
    if (!block || (!access.spins && !block->launch->words.any())) return;
    if (access.log) access.log->refused = true;  // a thread that holds a lock learns by reading
    const WarpLocks& warp = block->warp(access.who.warp);
    for (Mask m = strong ? access.who.mask : access.who.mask & warp.holding; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      const Word word = word_of(*block, access, lane);
      if (access.spins) block->launch->words.add(word);
      if (strong && (access.spins || block->launch->words.contains(word)))
        used(*block, access, lane, word);
      else
        passed(*block, access, lane, word, strong);
    }
  }
  void barrier(const Barrier& event) override { learns(event.who); }
  void mbarrier(const MbarrierOp& event) override { learns(event.who); }
  void collective(const Collective& event) override { learns(event.who); }
  void thread_exit(const ThreadExit& event) override {
    BlockLocks* const block = running_ != 0 ? find(event.who) : nullptr;
    if (!block || block->threads.empty()) return;
    for (Mask m = event.who.mask; m != 0; m &= m - 1)
      block->threads.erase(thread_of(event.who, static_cast<unsigned>(std::countr_zero(m))));
    block->warp(event.who.warp).holding &= ~event.who.mask;
  }

  void allocation(const Allocation& event) override {
    if (running_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(mutex_);
    for (auto& [number, launch] : launches_) launch->order.forget(event.address, event.bytes);
  }

 private:
  static constexpr std::size_t most_held = 16, most_nestings = 64;  // of a thread

  static std::uint32_t thread_of(const Who& who, unsigned lane) { return who.warp * lanes + lane; }
  static Who one(Who who, unsigned lane) {
    who.mask = Mask{1} << lane;
    return who;
  }
  static Word word_of(const BlockLocks& block, const Access& access, unsigned lane) {
    if (access.space == Space::global) return {0, access.addresses[lane]};
    constexpr std::uint64_t largest_cluster = 64;
    const std::uint32_t rank = access.ranks ? access.ranks[lane] : block.place.rank;
    return {1 + block.place.first * largest_cluster + rank, access.addresses[lane]};
  }
  // A number of the thread in its launch.
  static std::uint64_t writer(const Who& who, unsigned lane) {
    return who.block * 1024 + thread_of(who, lane);
  }

  // Returns null if no thread of the launch has tried to take a lock, unless this one does.
  BlockLocks* state(const Who& who, bool spins) {
    if (BlockLocks* const known = find(who)) return known;
    const Kernel* const kernel = session_.places.kernel(who.launch);
    if (!kernel) return nullptr;
    std::shared_ptr<LaunchLocks> launch;
    {
      const std::lock_guard lock(mutex_);
      const auto found = launches_.find(who.launch);
      if (found == launches_.end() && !spins) return nullptr;
      launch = found != launches_.end()
                   ? found->second
                   : launches_.emplace(who.launch, std::make_shared<LaunchLocks>()).first->second;
      running_.store(launches_.size(), std::memory_order_relaxed);
    }
    BlockLocks& block = of(who);
    block.launch = std::move(launch);
    block.place = cluster_place(*kernel, who.block);
    return &block;
  }
  void launch_ended(std::uint64_t launch) override {
    if (running_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(mutex_);
    launches_.erase(launch);
    running_.store(launches_.size(), std::memory_order_relaxed);
  }

  void learns(const Who& who) {
    if (running_.load(std::memory_order_relaxed) == 0) return;
    if (BlockLocks* const block = find(who)) ++block->warp(who.warp).turn;
  }

  // A thread accesses a word that is no lock.
  void passed(BlockLocks& block, const Access& access, unsigned lane, const Word& word,
              bool strong) {
    const auto found = block.threads.find(thread_of(access.who, lane));
    ThreadLocks* const thread = found == block.threads.end() ? nullptr : &found->second;
    if (thread && strong) thread->look.reset();
    const bool holds = thread && !thread->held.empty();
    const bool reads = access.kind == Access::Kind::load || access.kind == Access::Kind::atomic;
    if (holds && reads && !std::ranges::all_of(thread->held, &Hold::informed) &&
        block.launch->written.by_others(word, access.bytes, writer(access.who, lane)))
      for (Hold& each : thread->held) each.informed = true;
    if ((holds || strong) && (access.written >> lane & 1))
      block.launch->written.add(word, access.bytes, writer(access.who, lane));
  }

  // A thread accesses a lock's word by a strong access.
  void used(BlockLocks& block, const Access& access, unsigned lane, const Word& word) {
    ThreadLocks& thread = block.threads[thread_of(access.who, lane)];
    WarpLocks& warp = block.warp(access.who.warp);
    if (!thread.look || thread.look->lock != word || thread.look->turn != warp.turn)
      thread.look = {word, warp.turn, session_.moments.of(one(access.who, lane))};
    const bool changes = (access.written >> lane & 1) != 0 &&
                         !(access.read && access.wrote && access.read[lane] == access.wrote[lane]);
    if (!changes) return;
    const auto hold = std::ranges::find_if(
        thread.held, [&](const Hold& each) { return each.taking.lock == word; });
    if (hold != thread.held.end()) {
      const bool frees = access.wrote && access.wrote[lane] == hold->taking.free;
      end(block, thread, hold, frees);
    }
    if (access.spins && access.read && access.wrote) take(block, thread, access, lane);
    thread.look.reset();
    const Mask bit = Mask{1} << lane;
    warp.holding = thread.held.empty() ? warp.holding & ~bit : warp.holding | bit;
  }

  void take(BlockLocks& block, ThreadLocks& thread, const Access& access, unsigned lane) {
    const Who who = one(access.who, lane);
    std::optional<Moment> now = session_.moments.of(who);
    if (!now || !thread.look->before) return;
    now->known = {};
    now->together = {};
    if (thread.held.size() == most_held) end(block, thread, thread.held.begin(), false);
    Hold hold{++block.numbers,
              {thread.look->lock, who, access.space, access.bytes, access.read[lane],
               *thread.look->before, *now}};
    for (const Hold& outer : thread.held) {
      if (outer.informed || thread.nestings.size() == most_nestings) continue;
      Unconfirmed nested{{outer.taking, hold.taking, {}}, outer.number, hold.number};
      for (const Hold& other : thread.held)
        if (other.number != outer.number) nested.nesting.others.push_back(other.taking.lock);
      thread.nestings.push_back(std::move(nested));
    }
    thread.held.push_back(std::move(hold));
  }

  // The thread no longer holds the lock. `frees`: it has restored the word's value, so the word was
  // a lock.
  void end(BlockLocks& block, ThreadLocks& thread, std::vector<Hold>::iterator hold, bool frees) {
    std::vector<Nesting> counted;
    const std::uint64_t number = hold->number;
    thread.held.erase(hold);
    std::erase_if(thread.nestings, [&](Unconfirmed& each) {
      if (each.held != number && each.wanted != number) return false;
      if (!frees) return true;
      (each.held == number ? each.held : each.wanted) = 0;
      if (each.held != 0 || each.wanted != 0) return false;
      counted.push_back(std::move(each.nesting));
      return true;
    });
    for (Nesting& each : counted)
      if (auto circle = block.launch->order.add(std::move(each)); !circle.empty())
        report(std::move(circle));
  }

  std::string name(const Taking& taking) const {
    const Bytes bytes =
        session_.places.bytes(taking.who, taking.space, taking.lock.address, taking.bytes);
    const std::string_view space = taking.space == Space::shared ? "shared" : "global";
    if (bytes.variable.empty())
      return fmt::format("the lock at 0x{:x} of {} memory", bytes.address, space);
    return fmt::format("the lock '{}'{} of {} memory", readable(bytes.variable),
                       bytes.offset ? fmt::format(" + {}", bytes.offset) : "", space);
  }

  void report(std::vector<Nesting> circle);

  Session session_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<LaunchLocks>> launches_;
  std::atomic<std::size_t> running_{0};  // number of launches_
};

void Locks::report(std::vector<Nesting> circle) {
  const auto rank = [](const Nesting& each) {
    const Who& who = each.wanted.who;
    return std::tuple(who.instruction, who.block, who.warp, who.mask);
  };
  std::ranges::rotate(circle, std::ranges::min_element(circle, {}, rank));
  Places& places = session_.places;
  const FindingKey key{FindingKind::deadlock, places.of(circle[0].wanted.who),
                       places.of(circle[1].wanted.who), key_of(Rules::lock_order)};
  session_.findings.add(key, [&] {
    Finding f;
    f.kind = FindingKind::deadlock;
    f.sentence =
        circle.size() == 2
            ? "two threads take two locks in opposite orders: if each takes its first one before "
              "the other is done, both wait for ever"
            : fmt::format(
                  "{0} threads take {0} locks, each its first one where another takes its "
                  "second: if each takes its first one before the others are done, all "
                  "wait for ever",
                  circle.size());
    const auto waits = [&](const Nesting& each) {
      return places.party(each.wanted.who, fmt::format("waits for {} while it holds {}",
                                                       name(each.wanted), name(each.held)));
    };
    for (std::size_t i = 0; i < circle.size(); ++i) {
      if (i == 0)
        f.here = waits(circle[i]);
      else
        f.there.push_back(waits(circle[i]));
      const Taking& holder = circle[(i + 1) % circle.size()].held;
      f.there.push_back(places.party(holder.who, fmt::format("takes {}", name(holder))));
    }
    const Taking& wanted = circle[0].wanted;
    f.bytes = places.bytes(wanted.who, wanted.space, wanted.lock.address, wanted.bytes);
    f.remedy =
        "take locks in the same order everywhere, for example by address; or try the second one a "
        "limited number of times and release the first if it is not free";
    f.rule =
        "CUDA C++ Programming Guide, Execution Model, Forward Progress: a thread that waits for "
        "another makes progress only if that one does";
    return f;
  });
}

}  // namespace

std::unique_ptr<Listener> make_locks(const Session& session, const CheckOptions&) {
  return std::make_unique<Locks>(session);
}

}  // namespace inflight::check
