// Describes launches, instructions and threads so that the result stays valid after the launch. A
// thread asks about a launch that it takes part in, or while no launch can end (Findings::add).
#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

using PlaceId = std::uint32_t;
inline constexpr PlaceId no_place = 0;

class Places {
 public:
  Places();
  void begin(const Kernel& kernel);
  void end(const Kernel& kernel);
  // Valid while its launch runs. Null if that launch does not run.
  const Kernel* kernel(std::uint64_t launch) const;
  // Call it while the launch runs. A place has the same id in all launches. Only the first call for
  // an instruction is slow.
  PlaceId of(const Who& who);
  PlaceId of_host(std::string_view call);
  // A host call with the kernel that it is about.
  PlaceId of_call(CodePlace place) { return intern(std::move(place)); }
  // One id for all places on the same source line, in the same kernel and function.
  PlaceId line_of(PlaceId id) const;
  const CodePlace& at(PlaceId id) const;  // valid for the lifetime of this object
  Threads threads(const Who& who) const;  // while its launch runs
  Party party(const Who& who, std::string did);
  Bytes bytes(const Who& who, Space space, std::uint64_t address, std::uint64_t count) const;

 private:
  // The places of a launch's instructions, filled on demand.
  static constexpr std::uint32_t chunk_bits = 10, chunk_count = 4096;
  using Chunk = std::array<std::atomic<PlaceId>, 1u << chunk_bits>;
  struct Launch {
    const Kernel* kernel = nullptr;
    std::array<std::atomic<Chunk*>, chunk_count> chunks{};
    ~Launch();
    std::atomic<PlaceId>* slot(std::uint32_t instruction);  // null: index too large
  };
  Launch* find(std::uint64_t launch) const;
  PlaceId intern(CodePlace place);

  const std::uint64_t self_;  // number of this object in the process
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Launch>> launches_;
  std::atomic<std::uint64_t> ended_{0};  // launches so far
  std::deque<CodePlace> places_{1};
  std::deque<PlaceId> lines_{1};  // for each place, the first one on its line
  std::unordered_map<std::string, PlaceId> ids_, line_ids_;
};

}  // namespace inflight::check
