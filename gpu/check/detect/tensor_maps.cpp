// Detects tensor maps that a kernel changes and then uses without the proxy fences that order the
// two, or changes while a copy that uses them may still be in flight.
//
// Memory is known to be a map only when a tensor copy uses it. So each block keeps the lines of
// global memory that it wrote last.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/detect/detector.hpp"

namespace inflight::check {
namespace {

constexpr std::uint64_t map_bytes = 128, line_bytes = 64;  // a map has two lines
constexpr std::size_t kept_lines = 256, part_lines = 16;

using Time = std::uint64_t;  // counts tensormap fences and uses of maps; stores get the latest

struct Line {
  std::uint64_t address = ~0ull;
  Time time = 0;
  Who who;
};

// A tensor copy whose completion its block has not yet observed.
struct InFlight {
  Who who;
  std::uint64_t id = 0, map = 0;
  Completion completion = Completion::bulk_group;
  bool committed = false;
  std::uint32_t newer = 0;  // groups committed since its own
  bool moved = false;       // its bytes were counted on its mbarrier
  std::uint64_t mbarrier = 0;
  std::uint16_t rank = 0;
};

// The lines that a block wrote last. Of lines with the same index modulo kept_lines, only the last.
class WrittenLines {
 public:
  void set(const Line& line) {
    auto& part = parts_[line.address / part_lines % parts_.size()];
    if (!part) part = std::make_unique<Part>();
    (*part)[line.address % part_lines] = line;
  }
  // Returns null if the line is not kept.
  const Line* find(std::uint64_t address) const {
    const auto& part = parts_[address / part_lines % parts_.size()];
    if (!part) return nullptr;
    const Line& line = (*part)[address % part_lines];
    return line.address == address ? &line : nullptr;
  }

 private:
  using Part = std::array<Line, part_lines>;
  std::array<std::unique_ptr<Part>, kept_lines / part_lines> parts_;
};

struct BlockMaps {
  std::uint16_t rank = 0;
  WrittenLines lines;
  std::vector<InFlight> in_flight;
  Time released = 0;  // by fence.proxy.tensormap
  struct Acquired {
    std::uint64_t map = 0;
    Time time = 0;
    Time far = 0;  // with a scope of more than the block
  };
  std::vector<Acquired> acquired;
};

// A block's write to a map, for uses by other blocks of the launch.
struct Change {
  Who who;
  Time time = 0;
  bool released = false;  // with a scope of more than the block
};

bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

// Lanes that write far apart by a plain store do not write a map.
bool are_far_apart(const Access& access) {
  const auto first = access.addresses[std::countr_zero(access.who.mask)];
  const auto last = access.addresses[31 - std::countl_zero(access.who.mask)];
  return std::max(first, last) - std::min(first, last) > 2 * map_bytes;
}

bool is_tensormap(const Fence& fence) {
  return fence.kind == Fence::Kind::proxy &&
         (fence.to == Proxy::tensormap || fence.from == Proxy::tensormap);
}

class TensorMaps : public PerBlock<BlockMaps> {
 public:
  explicit TensorMaps(const Session& session) : session_(session) {}
  Topic topics() const override {
    return Topic::accesses | Topic::addresses | Topic::fences | Topic::copies | Topic::mbarriers |
           Topic::blocks;
  }

  void block_begin(const BlockBegin& event) override {
    if (event.rank != 0) made(event.kernel->launch, event.block).rank = event.rank;
  }
  void accessed(const Access& access) override;
  void fenced(const Fence& fence) override;
  void copy_issued(const CopyIssued& copy) override;
  void copy_committed(const CopyCommitted& event) override;
  void copy_waited(const CopyWaited& event) override;
  void mbarrier(const MbarrierOp& op) override;

 private:
  void launch_ended(std::uint64_t launch) override {
    const std::lock_guard lock(mutex_);
    std::erase_if(changes_, [&](const auto& each) { return each.second.who.launch == launch; });
  }
  void write(BlockMaps& block, const Who& who, std::uint64_t begin, std::uint64_t end, bool maps);
  void changed_in_flight(const Who& writer, const InFlight& copy);
  void without_fence(const Who& user, const Who& writer, std::uint64_t map, bool released);

  Session session_;
  std::atomic<Time> clock_{1};
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Change> changes_;  // by line
};

void TensorMaps::accessed(const Access& access) {
  if (access.kind == Access::Kind::load || access.space != Space::global || !access.addresses)
    return;
  // Only tensormap.replace and tensormap.cp_fenceproxy write whole maps.
  const bool maps = access.bytes == map_bytes;
  if (!maps && are_far_apart(access)) return;
  const Kernel* const kernel = session_.places.kernel(access.who.launch);
  if (kernel && !kernel->may_copy_tensors) return;  // then it uses no map
  BlockMaps& block = of(access.who);
  Who who = access.who;  // of the lanes whose bytes are [begin, end)
  who.mask = 0;
  std::uint64_t begin = 0, end = 0;
  for (Mask left = access.who.mask; left != 0; left &= left - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(left)];
    if (who.mask != 0 && (address < begin || address > end)) {
      write(block, who, begin, end, maps);
      who.mask = 0;
    }
    if (who.mask == 0) begin = end = address;
    end = std::max(end, address + access.bytes);
    who.mask |= left & -left;
  }
  write(block, who, begin, end, maps);
}

// `maps`: whole ones are written.
void TensorMaps::write(BlockMaps& block, const Who& who, std::uint64_t begin, std::uint64_t end,
                       bool maps) {
  const Time now = clock_.load(std::memory_order_relaxed);
  for (std::uint64_t line = begin / line_bytes; line <= (end - 1) / line_bytes; ++line)
    block.lines.set({line, now, who});
  for (const InFlight& copy : block.in_flight)
    if (overlap(begin, end - begin, copy.map, map_bytes)) changed_in_flight(who, copy);
  if (!maps) return;
  const std::lock_guard lock(mutex_);
  for (std::uint64_t map = begin; map < end; map += map_bytes)
    changes_[map / line_bytes] = {who, now, false};
}

void TensorMaps::fenced(const Fence& fence) {
  if (!is_tensormap(fence)) return;
  const Time now = ++clock_;
  const bool far = fence.scope > Scope::cta;  // it counts for other blocks too
  BlockMaps& block = of(fence.who);
  if (fence.order == Order::release || fence.order == Order::acq_rel) {
    block.released = now;
    const std::lock_guard lock(mutex_);
    for (auto& [line, change] : changes_)
      if (change.who.launch == fence.who.launch && change.who.block == fence.who.block)
        change.released |= far;
  }
  if (fence.order == Order::acquire || fence.order == Order::acq_rel) {
    const auto known = std::find_if(block.acquired.begin(), block.acquired.end(),
                                    [&](const auto& each) { return each.map == fence.address; });
    auto& acquired = known == block.acquired.end()
                         ? block.acquired.emplace_back(BlockMaps::Acquired{fence.address})
                         : *known;
    acquired.time = now;
    if (far) acquired.far = now;
  }
}

void TensorMaps::copy_issued(const CopyIssued& copy) {
  if (copy.tensor_map == 0) return;
  BlockMaps& block = of(copy.who);
  ++clock_;
  Line written;
  for (const std::uint64_t line : {copy.tensor_map / line_bytes, copy.tensor_map / line_bytes + 1})
    if (const Line* const kept = block.lines.find(line);
        kept && (written.time == 0 || kept->time >= written.time))
      written = *kept;
  Time acquired = 0, far = 0;
  for (const auto& each : block.acquired)
    if (overlap(each.map, map_bytes, copy.tensor_map, map_bytes))
      acquired = std::max(acquired, each.time), far = std::max(far, each.far);
  if (written.time != 0) {
    const bool released = block.released > written.time;
    if (!released || acquired <= written.time)
      without_fence(copy.who, written.who, copy.tensor_map, released);
  } else {
    Change change;
    {
      const std::lock_guard lock(mutex_);
      const auto found = changes_.find(copy.tensor_map / line_bytes);
      if (found != changes_.end()) change = found->second;
    }
    if (change.time != 0 && change.who.launch == copy.who.launch &&
        (!change.released || far <= change.time))
      without_fence(copy.who, change.who, copy.tensor_map, change.released);
  }
  // Copies that complete on another block's mbarrier are not followed: that block waits for them.
  if (copy.completion == Completion::transaction && copy.mbarrier_rank != block.rank) return;
  block.in_flight.push_back({copy.who, copy.id, copy.tensor_map, copy.completion, false, 0, false,
                             copy.mbarrier, copy.mbarrier_rank});
}

void TensorMaps::copy_committed(const CopyCommitted& event) {
  if (event.completion != Completion::bulk_group) return;
  for (InFlight& copy : of(event.who).in_flight) {
    if (copy.completion != Completion::bulk_group || copy.who.warp != event.who.warp ||
        !(copy.who.mask & event.who.mask))
      continue;
    if (copy.committed) ++copy.newer;
    copy.committed = true;
  }
}

void TensorMaps::copy_waited(const CopyWaited& event) {
  if (event.completion != Completion::bulk_group) return;
  std::erase_if(of(event.who).in_flight, [&](const InFlight& copy) {
    return copy.completion == Completion::bulk_group && copy.committed &&
           copy.who.warp == event.who.warp && (copy.who.mask & event.who.mask) &&
           copy.newer >= event.allowed;
  });
}

void TensorMaps::mbarrier(const MbarrierOp& op) {
  const bool counts = op.op == MbarrierOp::Op::complete_tx && op.copy != 0;
  const bool waits =
      op.done && (op.op == MbarrierOp::Op::test_wait || op.op == MbarrierOp::Op::try_wait);
  if (!counts && !waits) return;
  auto& in_flight = of(op.who).in_flight;
  if (in_flight.empty()) return;
  for (InFlight& copy : in_flight)
    if (counts && copy.id == op.copy && copy.who.warp == op.who.warp) copy.moved = true;
  if (waits)
    std::erase_if(in_flight, [&](const InFlight& copy) {
      return copy.moved && copy.mbarrier == op.address && copy.rank == op.rank;
    });
}

void TensorMaps::changed_in_flight(const Who& writer, const InFlight& copy) {
  Places& places = session_.places;
  const bool store = copy.completion == Completion::bulk_group;
  session_.findings.add({FindingKind::tensor_map, places.of(writer), places.of(copy.who), 1}, [&] {
    Finding finding;
    finding.kind = FindingKind::tensor_map;
    finding.sentence =
        fmt::format("a tensor map is changed while a tensor {} that uses it may still be in flight",
                    store ? "store" : "load");
    finding.here = places.party(writer, "writes to the tensor map");
    finding.there.push_back(places.party(
        copy.who, fmt::format("issues a tensor {} that uses it", store ? "store" : "load")));
    finding.in_flight = {places.party(
        copy.who, !store           ? "a tensor load, for whose mbarrier no thread has waited"
                  : copy.committed ? "a tensor store, in a bulk group that its thread has not "
                                     "waited for"
                                   : "a tensor store, not yet committed to a bulk group")};
    finding.bytes = places.bytes(writer, Space::global, copy.map, map_bytes);
    finding.remedy =
        store ? fmt::format(
                    "let the thread that issued the store {}execute cp.async.bulk.wait_group.read "
                    "{}, then order the writer after it (a barrier, if it is another thread), or "
                    "write to a second map",
                    copy.committed ? "" : "commit it (cp.async.bulk.commit_group), ", copy.newer)
              : "wait for the phase of the mbarrier on which the load completes before the map is "
                "written, or write to a second map";
    finding.rule = "PTX ISA, cp.async.bulk.tensor: the tensor map is read asynchronously";
    return finding;
  });
}

void TensorMaps::without_fence(const Who& user, const Who& writer, std::uint64_t map,
                               bool released) {
  Places& places = session_.places;
  session_.findings.add({FindingKind::tensor_map, places.of(user), places.of(writer), 2}, [&] {
    Finding finding;
    finding.kind = FindingKind::tensor_map;
    finding.sentence = fmt::format(
        "a tensor copy uses a tensor map that {} has changed, without {} fence of the tensormap "
        "proxy{} after the change",
        user.block == writer.block ? "the kernel" : "another block",
        released ? "an acquire" : "a release",
        user.block == writer.block ? "" : " of at least cluster scope");
    finding.here = places.party(user, "uses the tensor map");
    finding.there.push_back(places.party(writer, "writes to it"));
    finding.bytes = places.bytes(user, Space::global, map, map_bytes);
    finding.remedy = fmt::format(
        "{}in the threads that use the map, execute fence.proxy.tensormap::generic.acquire.gpu "
        "[map], 128 before the copy",
        released
            ? ""
            : "after the change, execute fence.proxy.tensormap::generic.release.gpu (or write the "
              "map by tensormap.cp_fenceproxy) and synchronise with the threads that use it; ");
    finding.rule =
        "PTX ISA, membar, fence.proxy: accesses through the generic and the tensormap proxy are "
        "ordered only by fence.proxy.tensormap";
    return finding;
  });
}

}  // namespace

std::unique_ptr<Listener> make_tensor_maps(const Session& session, const CheckOptions&) {
  return std::make_unique<TensorMaps>(session);
}

}  // namespace inflight::check
