// Driver API: values that streams write to memory and wait for.
#include <atomic>
#include <chrono>
#include <thread>

#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

// CUstreamWaitValue_flags; the flush flag (1 << 30) asks for what is always so here.
enum Comparison : unsigned { at_least = 0, equal = 1, common_bits = 2, not_or = 3 };
constexpr unsigned flush = 1u << 30, no_barrier = 1;

template <class T>
bool holds(T now, T value, unsigned comparison) {
  switch (comparison) {
    case at_least:
      return std::make_signed_t<T>(now - value) >= 0;
    case equal:
      return now == value;
    case common_bits:
      return (now & value) != 0;
    default:
      return T(~(now | value)) != 0;
  }
}

template <class T>
T load(DevicePointer memory) {
  return std::atomic_ref<T>(*static_cast<T*>(pointer(memory))).load(std::memory_order_acquire);
}

template <class T>
Status checked(const Stream& stream, DevicePointer memory) {
  auto found = Core::get().memory.find(memory);
  bool inside = found && memory + sizeof(T) <= found->base + found->size;
  if (!inside || memory % sizeof(T)) return Status::invalid_value;
  return capturing(stream) ? Status::capture_unsupported : allowed_now(stream);
}

constexpr std::chrono::microseconds pause{20};

template <class T>
Status wait(Stream& stream, DevicePointer memory, T value, unsigned flags) {
  unsigned comparison = flags & ~flush;
  if (comparison > not_or) return Status::invalid_value;
  if (Status status = checked<T>(stream, memory); status != Status::success) return status;
  stream.submit([=, &stream, &device = stream.device()] {
    while (!holds(load<T>(memory), value, comparison)) {
      if (device.cancel || device.fault() != Status::success) return;
      std::this_thread::sleep_for(pause);
    }
    observe_edge(check::StreamEdge::Kind::value_wait, stream, Stream::work_now(), memory);
  });
  return Status::success;
}

template <class T>
Status write(Stream& stream, DevicePointer memory, T value, unsigned flags) {
  if (flags & ~no_barrier) return Status::invalid_value;
  if (Status status = checked<T>(stream, memory); status != Status::success) return status;
  stream.submit([=, &stream] {
    observe_edge(check::StreamEdge::Kind::value_write, stream, Stream::work_now(), memory);
    std::atomic_ref<T>(*static_cast<T*>(pointer(memory))).store(value, std::memory_order_release);
  });
  return Status::success;
}

// CUstreamBatchMemOpParams: a union of 48 bytes, its kind first.
struct Operation {
  int kind;
  DevicePointer memory;
  std::uint64_t value;
  unsigned flags;
  char rest[20];
};
static_assert(sizeof(Operation) == 48);
enum Kind : int {
  wait_32 = 1,
  write_32 = 2,
  flush_writes = 3,
  wait_64 = 4,
  write_64 = 5,
  barrier = 6
};

Status perform(Stream& stream, const Operation& o) {
  switch (o.kind) {
    case wait_32:
      return wait(stream, o.memory, std::uint32_t(o.value), o.flags);
    case write_32:
      return write(stream, o.memory, std::uint32_t(o.value), o.flags);
    case wait_64:
      return wait(stream, o.memory, o.value, o.flags);
    case write_64:
      return write(stream, o.memory, o.value, o.flags);
    case flush_writes:
    case barrier:
      return Status::success;
    default:
      return Status::invalid_value;
  }
}

Status perform_all(Stream& stream, const Operation* list, unsigned count, unsigned flags) {
  if (!list || flags != 0) return Status::invalid_value;
  for (unsigned i = 0; i < count; ++i) {
    if (Status status = perform(stream, list[i]); status != Status::success) return status;
  }
  return Status::success;
}

}  // namespace

INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamWaitValue32_v2, cuStreamWaitValue32_v2_ptsz,
                   (Handle stream, DevicePointer memory, std::uint32_t value, unsigned flags), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return wait(s, memory, value, flags); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamWaitValue64_v2, cuStreamWaitValue64_v2_ptsz,
                   (Handle stream, DevicePointer memory, std::uint64_t value, unsigned flags), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return wait(s, memory, value, flags); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamWriteValue32_v2, cuStreamWriteValue32_v2_ptsz,
                   (Handle stream, DevicePointer memory, std::uint32_t value, unsigned flags), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return write(s, memory, value, flags); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamWriteValue64_v2, cuStreamWriteValue64_v2_ptsz,
                   (Handle stream, DevicePointer memory, std::uint64_t value, unsigned flags), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return write(s, memory, value, flags); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz,
                   (Handle stream, unsigned count, const Operation* list, unsigned flags), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return perform_all(s, list, count, flags);
                     });
                   })

}  // namespace inflight::cuda::driver
