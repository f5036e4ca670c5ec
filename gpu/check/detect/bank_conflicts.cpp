// Detects bank conflicts, by instruction (--advice).
//
// Shared memory has 32 banks of 4 bytes. A warp's access is served in parts: all lanes together up
// to 4 bytes per lane, half of them for 8 bytes, a quarter for 16. A part takes one turn for each
// different word that its lanes access in one bank. Lanes that access the same word share a turn.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "gpu/check/detect/detector.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

constexpr std::uint32_t banks = 32, bank_bytes = 4;

// The turns of a part of an access: the most different words that its lanes access in one bank.
std::uint32_t turns(const Access& a, Mask part, std::uint32_t words) {
  std::array<std::array<std::uint64_t, lanes * 4>, banks> wanted;
  std::array<std::uint8_t, banks> count{};
  std::uint32_t most = 0;
  for (Mask m = part; m != 0; m &= m - 1) {
    const std::uint64_t first = a.addresses[std::countr_zero(m)] / bank_bytes;
    for (std::uint64_t word = first; word < first + words; ++word) {
      auto& row = wanted[word % banks];
      std::uint8_t& n = count[word % banks];
      if (std::find(row.begin(), row.begin() + n, word) != row.begin() + n) continue;
      row[n++] = word;
      most = std::max<std::uint32_t>(most, n);
    }
  }
  return most;
}

struct Wavefronts {
  std::uint32_t needed = 0, taken = 0, worst = 0;  // turns; worst: the most of one part
};

Wavefronts wavefronts(const Access& a) {
  const std::uint32_t words = std::max(1u, a.bytes / bank_bytes);
  const std::uint32_t each = lanes / std::min(words, 4u);  // lanes per part
  Wavefronts w;
  for (std::uint32_t first = 0; first < lanes; first += each) {
    const Mask part = a.who.mask & (each == lanes ? ~Mask{0} : ((Mask{1} << each) - 1) << first);
    if (part == 0) continue;
    const std::uint32_t t = turns(a, part, words);
    ++w.needed, w.taken += t, w.worst = std::max(w.worst, t);
  }
  return w;
}

// The bytes from each lane to the next, or 0 if they differ.
std::int64_t stride(const Access& a) {
  std::int64_t found = 0;
  int last = -1;
  for (Mask m = a.who.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (last >= 0) {
      const auto step = static_cast<std::int64_t>(a.addresses[lane] - a.addresses[last]);
      if (lane != last + 1 || (found != 0 && step != found)) return 0;
      found = step;
    }
    last = lane;
  }
  return found;
}

struct Place {
  Who who;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint64_t accesses = 0, extra = 0;
  std::uint32_t worst = 0;
  std::int64_t stride = 0;
  bool store = false;
};

class BankConflicts : public Listener {
 public:
  explicit BankConflicts(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::accesses | Topic::addresses | Topic::each_read; }

  void accessed(const Access& access) override {
    if (access.space != Space::shared || !access.addresses || access.ranks) return;
    if (access.kind >= Access::Kind::atomic) return;
    const Wavefronts w = wavefronts(access);
    const std::lock_guard lock(mutex_);
    Place& place = places_[access.who.launch][access.who.instruction];
    ++place.accesses;
    place.extra += w.taken - w.needed;
    if (w.worst <= place.worst) return;
    place.worst = w.worst;
    place.who = access.who;
    place.address = access.addresses[std::countr_zero(access.who.mask)];
    place.bytes = access.bytes;
    place.stride = stride(access);
    place.store = access.kind == Access::Kind::store;
  }

  void kernel_end(const KernelEnd& event) override {
    std::map<std::uint32_t, Place> found;
    {
      const std::lock_guard lock(mutex_);
      found = std::move(places_[event.kernel->launch]);
      places_.erase(event.kernel->launch);
    }
    for (const auto& [instruction, place] : found)
      if (place.extra >= place.accesses && place.worst > 1)
        session_.findings.add({FindingKind::bank_conflict, session_.places.of(place.who)},
                              [&, &p = place] { return make(p); });
  }

 private:
  Finding make(const Place& p) {
    Finding finding;
    finding.kind = FindingKind::bank_conflict;
    finding.sentence = fmt::format(
        "lanes of a warp access {} different words of one bank of shared memory: {} accesses of a "
        "warp take {} passes more than they need",
        p.worst, p.accesses, p.extra);
    finding.here = session_.places.party(
        p.who, fmt::format("{} {} bytes of shared memory", p.store ? "writes" : "reads", p.bytes));
    finding.bytes = session_.places.bytes(p.who, Space::shared, p.address, p.bytes);
    finding.remedy = remedy(p, *finding.bytes);
    finding.rule = "CUDA C++ Best Practices Guide, Shared Memory and Memory Banks";
    return finding;
  }

  static std::string remedy(const Place& p, const Bytes& bytes) {
    const std::string of =
        bytes.variable.empty() ? std::string() : fmt::format(" of '{}'", readable(bytes.variable));
    const std::int64_t step = p.stride < 0 ? -p.stride : p.stride;
    const std::uint32_t word = std::max(bank_bytes, p.bytes);
    if (step == 0)
      return "let lanes that are served together (all 32 for up to 4 bytes each, 16 for 8 bytes, 8 "
             "for 16 bytes) access different banks: address / 4 % 32";
    return fmt::format(
        "neighbouring lanes are {0} bytes apart: pad each row{1} by {2} bytes, so that they are "
        "{3} apart, or swizzle it: store column c of row r at column c ^ (r % {4}), in elements of "
        "{2} bytes",
        step, of, word, step + word, banks * bank_bytes / word);
  }

  Session session_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::map<std::uint32_t, Place>> places_;  // by launch
};

}  // namespace

std::unique_ptr<Listener> make_bank_conflicts(const Session& session, const CheckOptions& options) {
  if (!options.advice) return nullptr;
  return std::make_unique<BankConflicts>(session);
}

}  // namespace inflight::check
