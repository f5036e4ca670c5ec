// Devices with their streams, and the memory of all devices.
#include "gpu/cuda/core/queue/core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/base/lifetime.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/queue/awaited.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/cuda/core/report/checking.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/watch/pages.hpp"
#include "gpu/cuda/core/watch/watch.hpp"
#include "gpu/host/of_this_thread.hpp"

namespace inflight::cuda {
namespace {

// The limits of an H200: stack, printf FIFO, heap, unused, pending launches, L2 fetch granularity,
// persisting L2, shared memory.
constexpr std::uint64_t default_limits[limit_count] = {1024, 8650752, 8388608,  0,
                                                       2048, 64,      11796480, 232448};

}  // namespace

const Profile& chosen_profile() {
  const std::string& name = settings().device;
  if (const Profile* profile = find_profile(name)) return *profile;
  std::string known;
  for (const Profile& profile : profiles())
    known += (known.empty() ? "" : ", ") + std::string(profile.name);
  report("INFLIGHT_DEVICE is '" + name + "', but it takes one of " + known + ".");
  std::_Exit(2);
}

Device::Device(int ordinal, int index, const Profile& profile)
    : ordinal(ordinal), index(index), profile(profile), machine_limits(profile.limits()) {
  restore_limits();
}

Device::~Device() = default;

void Device::restore_limits() {
  for (int i = 0; i < limit_count; ++i) limits[i] = default_limits[i];
  flags = 0;
  cache_config = 0;
}

std::shared_ptr<Stream> Device::legacy() {
  std::lock_guard lock(mutex_);
  if (!legacy_) {
    legacy_ = std::make_shared<Stream>(*this, Stream::Kind::legacy, false, 0);
    streams_.push_back(legacy_);
  }
  return legacy_;
}

std::shared_ptr<Stream> Device::per_thread() {
  struct Own {
    std::map<Device*, std::shared_ptr<Stream>> streams;
  };
  std::shared_ptr<Stream>& stream = host::of_this_thread<Own>().streams[this];
  if (!stream) {
    stream = make_stream(Stream::Kind::per_thread, false, 0);
    join_context(*stream);
  }
  return stream;
}

std::shared_ptr<Stream> Device::create_stream(bool non_blocking, int priority) {
  auto stream = make_stream(Stream::Kind::user, non_blocking, priority);
  stream->context = current_context();
  join_context(*stream);
  return stream;
}

std::shared_ptr<Stream> Device::create_null_stream(Context& context) {
  auto stream = make_stream(Stream::Kind::legacy, false, 0);
  stream->context = &context;
  return stream;
}

std::shared_ptr<Stream> Device::make_stream(Stream::Kind kind, bool non_blocking, int priority) {
  auto stream = std::make_shared<Stream>(*this, kind, non_blocking, priority);
  std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& each) { return each.expired(); });
  streams_.push_back(stream);
  return stream;
}

std::vector<std::shared_ptr<Stream>> Device::streams() const {
  std::vector<std::shared_ptr<Stream>> result;
  std::lock_guard lock(mutex_);
  for (const auto& each : streams_)
    if (auto stream = each.lock()) result.push_back(std::move(stream));
  return result;
}

bool Device::wait_until(std::chrono::steady_clock::time_point deadline) const {
  for (const auto& stream : streams()) {
    Ticket last = stream->last();
    if (!last.count->wait_until(last.number, deadline)) return false;
  }
  return true;
}

void Device::kill(Status status, std::string_view text, Printed printed,
                  const FailedKernel& kernel) {
  Status alive = Status::success;
  fault_.compare_exchange_strong(alive, status);
  // A launch that the program's end has stopped is none that failed.
  if (printed == Printed::not_yet && !cancel && report_failed_work(status, text, kernel))
    printed = Printed::already;
  if (!text.empty() && printed == Printed::already) write_log(text);
  if (!text.empty() && printed == Printed::not_yet) report(text);
  report_observed();
}

void Core::add_device(int index) {
  devices_.push_back(std::make_unique<Device>(int(devices_.size()), index, profile_));
  auto context = std::make_shared<Context>();
  context->device = devices_.back().get();
  context->primary = true;
  contexts.add(context);
  primaries_.push_back(std::move(context));
}

tl::expected<std::uint64_t, std::string> Core::allocate(int device, std::uint64_t bytes,
                                                        machine::AllocationKind kind) {
  // An H200 aligns allocations of a page or more to pages, and mostly those of more than half a
  // page too. Programs that cut their allocations into pages rely on that.
  constexpr std::uint64_t page = 2 << 20;
  const bool shared =
      kind == machine::AllocationKind::managed || kind == machine::AllocationKind::host;
  // Watched memory shares no page with other allocations.
  const std::uint64_t least = shared && watch::enabled() ? watch::page_bytes : 512;
  const std::uint64_t alignment = bytes > page / 2 ? page : least;
  const std::uint64_t slack = settings().slack;
  const bool fits = bytes <= ~std::uint64_t{0} - slack;
  const std::uint64_t size = fits ? round_up(bytes, slack) : bytes;
  auto made = memory.allocate(device, size, kind, alignment);
  if (!made) report_if_host_is_full(size);
  return made;
}

bool Core::take_host_share(std::uint64_t bytes) {
  if (memory.host_share().take(bytes)) return true;
  report_if_host_is_full(bytes);
  return false;
}

bool Core::take_physical(int device, std::uint64_t bytes) {
  std::atomic<std::uint64_t>& physical = devices_[std::size_t(device)]->physical;
  const std::uint64_t before = physical.fetch_add(bytes);
  const std::uint64_t taken = memory.used(device) + before;
  const bool fits = bytes <= memory.capacity() - std::min(memory.capacity(), taken);
  if (fits && take_host_share(bytes)) return true;
  physical -= bytes;
  return false;
}

void Core::give_back_physical(int device, std::uint64_t bytes) {
  devices_[std::size_t(device)]->physical -= bytes;
  memory.host_share().give_back(bytes);
}

void Core::report_if_host_is_full(std::uint64_t bytes) {
  const machine::HostShare& share = memory.host_share();
  if (bytes > memory.capacity() || bytes <= share.left()) return;  // as on a GPU
  report_once(
      "host memory",
      fmt::format("an allocation of {} bytes fails with 'out of memory': devices may use {} bytes "
                  "of this host's memory, and {} of them are free. A GPU would have had room. "
                  "--memory SIZE (INFLIGHT_MEMORY) sets how much they may use.",
                  bytes, share.limit(), share.left()));
}

bool Core::ending() { return process_ends(); }
bool Core::forked() { return process_forked(); }

machine::Options Core::options(const Device& device) const {
  const Settings& chosen = settings();
  machine::Options options;
  options.timing = chosen.timing;
  options.turns = chosen.turns;
  options.compile = chosen.compile;
  options.timeout = chosen.timeout;
  options.workers = chosen.workers;
  options.listener = observer();
  options.progress = chosen.progress;
  options.stack_bytes = device.limits[stack_limit];
  const machine::Limits& limits = device.machine_limits;
  const std::uint64_t at_once = limits.multiprocessors * limits.max_threads_per_multiprocessor;
  options.call_bytes = std::min(std::max(options.call_bytes, options.stack_bytes * at_once),
                                get().memory.host_share().limit() / 4);
  if (!checker())  // whose findings say more of the same
    options.advise = [](const std::string& key, const std::string& sentence) {
      report_once(key, sentence);
    };
  if (options.compile == machine::Compile::verify)
    options.differs = [](const std::string& sentence) {
      report(sentence);
      fail_at_end();
    };
  options.heap_bytes = device.limits[heap_limit];
  return options;
}

int visible_ordinal(int index) {
  Core& core = Core::get();
  for (int i = 0; i < core.device_count(); ++i)
    if (core.device(i).index == index) return i;
  return current_device().ordinal;
}

Status report_forked() {
  report_once(
      "forked",
      "this process was forked from one that had used CUDA. CUDA does not work in such a child, "
      "nor would it on a GPU: calls return 'initialization error'. Fork before the first CUDA "
      "call, or start the child as a new process (in Python: multiprocessing's 'spawn').");
  return Status::not_initialized;
}

Status enable_peer(int device, int peer, unsigned flags) {
  if (flags != 0) return Status::invalid_value;
  if (device == peer) return Status::peer_access_unsupported;
  machine::Memory& memory = Core::get().memory;
  if (memory.peer_access(device, peer)) return Status::peer_access_already_enabled;
  memory.set_peer_access(device, peer, true);
  return Status::success;
}

Status disable_peer(int device, int peer) {
  machine::Memory& memory = Core::get().memory;
  if (device == peer || !memory.peer_access(device, peer)) return Status::peer_access_not_enabled;
  memory.set_peer_access(device, peer, false);
  return Status::success;
}

Result<std::shared_ptr<Stream>> stream_of(const void* handle, bool per_thread) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value == 2 || (value == 0 && per_thread)) return current_device().per_thread();
  if (value <= 1) {
    const Context* const context = current_context();
    return context && context->null_stream ? context->null_stream->shared_from_this()
                                           : current_device().legacy();
  }
  auto stream = Core::get().streams.find(handle);
  if (!stream) {
    Call::because(fmt::format("{} is no stream, or one that was destroyed", handle));
    return fail(Status::invalid_handle);
  }
  if (stream->context && stream->context->destroyed) return fail(Status::context_is_destroyed);
  return stream;
}

Result<std::shared_ptr<Stream>> live_stream(const void* handle, bool per_thread) {
  auto stream = stream_of(handle, per_thread);
  if (!stream) return stream;
  const Status fault = (*stream)->device().fault();
  if (fault != Status::success) return fail(fault);
  return stream;
}

}  // namespace inflight::cuda
