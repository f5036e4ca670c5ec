// Events of the host, and the statistics that listen to them.
#include "gpu/cuda/core/report/observer.hpp"

#include <cstdio>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "gpu/cuda/core/memory/addresses.hpp"
#include "gpu/trace/stats.hpp"

namespace inflight::cuda {

namespace {

trace::Stats* stats() {
  static trace::Stats* instance = settings().stats ? new trace::Stats : nullptr;
  return instance;
}

void write_json(const std::string& path) {
  std::ofstream file(path);
  file << stats()->json().dump(2) << '\n';
  if (!file) report("the statistics could not be written to '" + path + "'.");
}

}  // namespace

check::Listener* observer() { return stats(); }

void report_observed() {
  if (!stats()) return;
  static std::mutex mutex;
  static std::uint64_t reported = ~std::uint64_t{0};  // launches
  const std::lock_guard lock(mutex);
  std::uint64_t launches = 0;
  for (const auto& kernel : stats()->kernels()) launches += kernel.tally.launches;
  if (launches == std::exchange(reported, launches)) return;
  if (!settings().stats_file.empty()) return write_json(settings().stats_file);
  const std::string text = stats()->text();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void observe_edge(check::StreamEdge::Kind kind, const Stream& stream, std::uint64_t other) {
  if (check::Listener* listener = observer())
    listener->stream_edge(
        {kind, stream.device().ordinal, stream.id(), other, !stream.non_blocking()});
}

void observe_copy(const Stream& stream, const Copy& copy, bool asynchronous) {
  check::Listener* listener = observer();
  if (!listener) return;
  check::HostAccess event;
  event.stream = stream.id();
  event.asynchronous = asynchronous;
  event.destination = address_of(copy.to);
  event.source = address_of(copy.from);
  event.destination_pitch = copy.to_pitch;
  event.source_pitch = copy.from_pitch;
  event.bytes = copy.width;
  event.rows = copy.height;
  for (std::uint64_t slice = 0; slice < copy.depth; ++slice) {
    listener->host_accessed(event);
    event.destination += copy.to_pitch * copy.to_rows;
    event.source += copy.from_pitch * copy.from_rows;
  }
}

void observe_fill(const Stream& stream, const Fill& fill, bool asynchronous) {
  check::Listener* listener = observer();
  if (!listener) return;
  check::HostAccess event;
  event.kind = check::HostAccess::Kind::set;
  event.stream = stream.id();
  event.asynchronous = asynchronous;
  event.destination = address_of(fill.to);
  event.destination_pitch = fill.pitch;
  event.bytes = fill.width * fill.element;
  event.rows = fill.height;
  for (std::uint64_t slice = 0; slice < fill.depth; ++slice) {
    listener->host_accessed(event);
    event.destination += fill.pitch * fill.rows;
  }
}

void observe_allocation(check::Allocation::Step step, check::Allocation::Kind kind, int device,
                        std::uint64_t address, std::uint64_t bytes, const Stream* ordered) {
  check::Listener* listener = observer();
  if (!listener) return;
  check::Allocation event;
  event.step = step;
  event.kind = kind;
  event.device = device;
  event.address = address;
  event.bytes = bytes;
  event.ordered = ordered != nullptr;
  event.stream = ordered ? ordered->id() : 0;
  listener->allocation(event);
}

}  // namespace inflight::cuda
