// Cooperative launches on several devices: checks that the launches match, and orders the streams.
#include "gpu/cuda/core/calls/several_devices.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/work/launch.hpp"

namespace inflight::cuda {
namespace {

bool same(const abi::Dim3& a, const abi::Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

bool alike(const DeviceLaunch& a, const DeviceLaunch& b) {
  return same(a.grid, b.grid) && same(a.block, b.block) && a.dynamic_shared == b.dynamic_shared;
}

struct Prepared {
  std::shared_ptr<Stream> stream;
  KernelWork work;
};

Result<Prepared> prepare(const DeviceLaunch& launch) {
  auto stream = live_stream(launch.stream, false);
  if (!stream) return tl::unexpected(stream.error());
  if ((*stream)->kind() != Stream::Kind::user) return fail(Status::invalid_handle);
  if (capturing(**stream)) return fail(Status::capture_unsupported);
  auto work = kernel_work((*stream)->device(), launch.function, dim3_of(launch.grid),
                          dim3_of(launch.block), launch.arguments, nullptr, launch.dynamic_shared);
  if (!work) return tl::unexpected(work.error());
  work->cooperative = true;
  work->textures = Core::get().texture_objects.snapshot();
  const Status status = check(*work, (*stream)->device());
  if (status != Status::success) return fail(status);
  return Prepared{std::move(*stream), std::move(*work)};
}

// The barrier of grids that are launched together. It lives until all of them have ended.
Result<std::shared_ptr<const void>> make_barrier(int device, std::uint64_t& address) {
  machine::Memory& memory = Core::get().memory;
  const auto made = memory.allocate(device, sizeof(std::uint32_t), machine::AllocationKind::host,
                                    256, "the barrier of the grids of several devices");
  if (!made) return fail(Status::out_of_memory);
  address = *made;
  *reinterpret_cast<std::uint32_t*>(address) = 0;
  return std::shared_ptr<const void>(
      reinterpret_cast<const void*>(address),
      [&memory](const void* at) { memory.release(reinterpret_cast<std::uint64_t>(at)); });
}

}  // namespace

Status launch_on_devices(std::span<const DeviceLaunch> launches, unsigned flags) {
  if (launches.empty() || flags & ~(no_wait_before | no_wait_behind)) return Status::invalid_value;
  std::vector<Prepared> all;
  std::set<int> devices;
  for (const DeviceLaunch& launch : launches) {
    auto prepared = prepare(launch);
    if (!prepared) return report(prepared);
    const bool another = devices.insert(prepared->stream->device().ordinal).second;
    if (!another) return Status::invalid_device;
    if (!alike(launch, launches.front()) ||
        (!all.empty() && prepared->work.function->name != all.front().work.function->name))
      return Status::invalid_value;
    all.push_back(std::move(*prepared));
  }
  std::uint64_t address = 0;
  const auto barrier = make_barrier(all.front().stream->device().ordinal, address);
  if (!barrier) return report(barrier);
  for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
    all[rank].work.grids = {address, rank, std::uint32_t(all.size())};
    all[rank].work.of_grids = *barrier;
  }
  std::vector<Ticket> before, done;
  for (const Prepared& each : all)
    if (!(flags & no_wait_before)) before.push_back(each.stream->last());
  for (Prepared& each : all)
    done.push_back(each.stream->submit(
        [work = Work(std::move(each.work)), stream = each.stream.get()] { perform(work, *stream); },
        before));
  for (const Prepared& each : all)
    if (!(flags & no_wait_behind) && all.size() > 1) each.stream->submit([] {}, done);
  return Status::success;
}

}  // namespace inflight::cuda
