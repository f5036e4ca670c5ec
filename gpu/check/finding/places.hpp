// Names for launches, instructions and threads that outlive the launch.
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
  // While its launch runs. Null: none that runs.
  const Kernel* kernel(std::uint64_t launch) const;
  // While its launch runs; the same place has the same number in all launches. Cheap after the
  // first time.
  PlaceId of(const Who& who);
  PlaceId of_host(std::string_view call);
  // The same for all places on one line of the source, in one kernel and function.
  PlaceId line_of(PlaceId id) const;
  const CodePlace& at(PlaceId id) const;  // for ever
  Threads threads(const Who& who) const;  // while its launch runs
  Party party(const Who& who, std::string did);
  Bytes bytes(const Who& who, Space space, std::uint64_t address, std::uint64_t count) const;

 private:
  // Of a launch: the places of its instructions, as far as they were asked for.
  static constexpr std::uint32_t chunk_bits = 10, chunk_count = 4096;
  using Chunk = std::array<std::atomic<PlaceId>, 1u << chunk_bits>;
  struct Launch {
    const Kernel* kernel = nullptr;
    std::array<std::atomic<Chunk*>, chunk_count> chunks{};
    ~Launch();
    std::atomic<PlaceId>* slot(std::uint32_t instruction);  // null: past all chunks
  };
  Launch* find(std::uint64_t launch) const;
  PlaceId intern(CodePlace place);

  const std::uint64_t self_;  // which Places of the process
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Launch>> launches_;
  std::deque<CodePlace> places_{1};
  std::deque<PlaceId> lines_{1};  // of each place, the first on its line
  std::unordered_map<std::string, PlaceId> ids_, line_ids_;
};

}  // namespace inflight::check
