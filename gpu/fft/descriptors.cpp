// Plans for several GPUs: descriptors of memory that is spread over them, copies, and transforms.
// The memory always has the natural order. Where a GPU's output is in another one, only the
// descriptor's format says so, as it does there.
#include <algorithm>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/queue/context.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/work/library_work.hpp"
#include "gpu/cuda/core/work/work.hpp"
#include "gpu/fft/plan.hpp"

namespace inflight::fft {
namespace {

// cudaXtDesc: each device's piece.
constexpr int most_devices = 64;
struct Pieces {
  int version = 0, count = 0;
  int devices[most_devices] = {};
  void* data[most_devices] = {};
  std::size_t bytes[most_devices] = {};
  void* state = nullptr;
};
// cudaLibXtDesc. A format is one of cufftXtSubFormat.
struct Descriptor {
  int version = 0;
  Pieces* pieces = nullptr;
  int library = 0, format = 0;
  void* plan = nullptr;
};
constexpr int in_order = 2, shuffled = 3, last_format = 4;

// The descriptors of cufftXtMalloc that are alive.
struct Owned {
  std::mutex mutex;
  std::set<const Descriptor*> all;
};
Owned& owned() {
  static auto& one = *new Owned;
  return one;
}

bool valid(const Descriptor* descriptor) {
  if (!descriptor || !descriptor->pieces) return false;
  const Pieces& pieces = *descriptor->pieces;
  if (pieces.count < 1 || pieces.count > most_devices) return false;
  for (int i = 0; i < pieces.count; ++i)
    if (!cuda::device_exists(pieces.devices[i])) return false;
  return true;
}

// Calls body(i, bytes before the piece) with each piece's device current, until one fails.
Result for_each_piece(const Pieces& pieces, const std::function<Result(int, std::size_t)>& body) {
  std::size_t before = 0;
  for (int i = 0; i < pieces.count; before += pieces.bytes[i++]) {
    const cuda::ScopedContext current(&cuda::Core::get().primary(pieces.devices[i]));
    if (const Result result = body(i, before); result != Result::success) return result;
  }
  return Result::success;
}

void release(Descriptor* descriptor) {
  for (int i = 0; i < descriptor->pieces->count; ++i)
    if (descriptor->pieces->data[i]) cuda::free_memory(descriptor->pieces->data[i]);
  delete descriptor->pieces;
  delete descriptor;
}

// Batches are spread as wholes, else the outermost dimension is.
Result allocate(const Plan& plan, Descriptor** place, int format) {
  if (!plan.made) return Result::invalid_plan;
  if (!place || format < 0 || format > last_format) return Result::invalid_value;
  const Shape& shape = plan.made->shape;
  const std::size_t all = shape.complex_bytes();
  const Size outermost = (shape.rank == 1 && shape.types.form != Form::complex)
                             ? shape.sizes[2] / 2 + 1
                             : shape.sizes[std::size_t(most_dimensions - shape.rank)];
  const auto units = std::size_t(shape.batch > 1 ? shape.batch : outermost);
  auto* const made = new Descriptor{.pieces = new Pieces, .format = format};
  std::vector<int> devices = plan.devices;
  if (devices.empty()) devices = {cuda::current_device().ordinal};
  made->pieces->count = int(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    made->pieces->devices[i] = devices[i];
    const std::size_t share = units / devices.size() + (i < units % devices.size() ? 1 : 0);
    made->pieces->bytes[i] = share * (all / units);
  }
  const Result result = for_each_piece(*made->pieces, [&](int i, std::size_t) {
    if (made->pieces->bytes[i] == 0) return Result::success;
    return result_of(cuda::allocate_device(&made->pieces->data[i], made->pieces->bytes[i]));
  });
  if (result != Result::success) {
    release(made);
    return result;
  }
  *place = made;
  Owned& live = owned();
  const std::lock_guard lock(live.mutex);
  live.all.insert(made);
  return Result::success;
}

Result free_descriptor(Descriptor* descriptor) {
  if (!descriptor) return Result::success;
  {
    Owned& live = owned();
    const std::lock_guard lock(live.mutex);
    if (live.all.erase(descriptor) == 0) return Result::invalid_value;
  }
  release(descriptor);
  return Result::success;
}

Result copy_piece(void* to, const void* from, std::size_t bytes, cuda::Direction direction) {
  if (bytes == 0) return Result::success;
  const auto stream = cuda::live_stream(nullptr, false);
  if (!stream) return result_of(stream.error().status);
  return result_of(cuda::copy(**stream, cuda::linear(to, from, bytes, direction), false));
}

Result copy_to_host(void* to, const Descriptor& from) {
  return for_each_piece(*from.pieces, [&](int i, std::size_t before) {
    return copy_piece(static_cast<char*>(to) + before, from.pieces->data[i], from.pieces->bytes[i],
                      cuda::Direction::device_to_host);
  });
}
Result copy_from_host(Descriptor& to, const void* from) {
  to.format = in_order;
  return for_each_piece(*to.pieces, [&](int i, std::size_t before) {
    return copy_piece(to.pieces->data[i], static_cast<const char*>(from) + before,
                      to.pieces->bytes[i], cuda::Direction::host_to_device);
  });
}
Result copy_between(Descriptor& to, const Descriptor& from) {
  if (to.pieces->count != from.pieces->count) return Result::invalid_value;
  to.format = in_order;
  return for_each_piece(*to.pieces, [&](int i, std::size_t) {
    if (to.pieces->bytes[i] != from.pieces->bytes[i]) return Result::invalid_value;
    return copy_piece(to.pieces->data[i], from.pieces->data[i], to.pieces->bytes[i],
                      cuda::Direction::by_address);
  });
}

Result copy(void* to, void* from, int type) {
  enum { host_to_device, device_to_host, device_to_device };
  if (!to || !from) return Result::invalid_value;
  auto *const target = static_cast<Descriptor*>(to), *const source = static_cast<Descriptor*>(from);
  if (type == host_to_device)
    return valid(target) ? copy_from_host(*target, from) : Result::invalid_value;
  if (type == device_to_host)
    return valid(source) ? copy_to_host(to, *source) : Result::invalid_value;
  if (type != device_to_device || !valid(target) || !valid(source)) return Result::invalid_value;
  return copy_between(*target, *source);
}

// Visits the pieces of a descriptor in their devices' default streams, and waits.
Result visit_pieces(const char* name, const Pieces& pieces, bool written,
                    const std::function<void(char*, std::size_t, std::size_t)>& visit) {
  return for_each_piece(pieces, [&](int i, std::size_t before) {
    const auto stream = cuda::live_stream(nullptr, false);
    if (!stream) return result_of(stream.error().status);
    void* const data = pieces.data[i];
    const std::size_t bytes = pieces.bytes[i];
    const Result result = result_of(
        cuda::submit(**stream, cuda::LibraryWork{name, [=](const cuda::Touch& touch) {
                                                   if (touch({{data, bytes, 1, 0, written}}))
                                                     visit(static_cast<char*>(data), before, bytes);
                                                 }}));
    return result == Result::success ? result_of(cuda::synchronize(**stream)) : result;
  });
}

Result execute(const char* name, const Plan& plan, Descriptor* in, Descriptor* out, int direction) {
  if (!plan.made) return Result::invalid_plan;
  if (!valid(in) || !valid(out)) return Result::invalid_value;
  const Made& made = *plan.made;
  if (!made.shape.takes(direction)) return Result::invalid_value;
  std::size_t there = 0;
  for (int i = 0; i < in->pieces->count; ++i) there += in->pieces->bytes[i];
  if (there < made.shape.complex_bytes()) return Result::invalid_value;
  std::vector<double> numbers(there / sizeof(double) + 1);
  char* const all = reinterpret_cast<char*>(numbers.data());
  const Result read = visit_pieces(
      name, *in->pieces, false,
      [=](char* piece, std::size_t at, std::size_t bytes) { std::copy_n(piece, bytes, all + at); });
  if (read != Result::success) return read;
  if (!made.transform->run(all, all, direction)) return Result::exec_failed;
  // With a batch, each device has whole transforms.
  if (made.shape.batch == 1) out->format = in->format == shuffled ? in_order : shuffled;
  return visit_pieces(name, *out->pieces, true,
                      [=](char* piece, std::size_t at, std::size_t bytes) {
                        if (at < there) std::copy_n(all + at, std::min(bytes, there - at), piece);
                      });
}

Result set_devices(Plan& plan, int count, const int* which) {
  if (plan.made) return Result::invalid_plan;
  if (count < 2 || count > most_devices || !which) return Result::invalid_value;
  for (int i = 0; i < count; ++i)
    if (!cuda::device_exists(which[i])) return Result::invalid_device;
  plan.devices.assign(which, which + count);
  return Result::success;
}

}  // namespace
}  // namespace inflight::fft

using namespace inflight::fft;

INFLIGHT_CUFFT int cufftXtSetGPUs(Handle plan, int count, const int* which) {
  return answer("cufftXtSetGPUs", plan, [&](Plan& p) { return set_devices(p, count, which); });
}
// The work areas are not used: each would be as large as the piece of a device.
INFLIGHT_CUFFT int cufftXtSetWorkArea(Handle plan, void** areas) {
  return answer("cufftXtSetWorkArea", plan, [&](Plan& p) {
    if (!areas) return Result::invalid_value;
    return p.devices.empty() ? Result::invalid_plan : Result::success;
  });
}
INFLIGHT_CUFFT int cufftXtMalloc(Handle plan, Descriptor** place, int format) {
  return answer("cufftXtMalloc", plan, [&](Plan& p) { return allocate(p, place, format); });
}
INFLIGHT_CUFFT int cufftXtFree(Descriptor* descriptor) {
  return answer("cufftXtFree", [&] { return free_descriptor(descriptor); });
}
INFLIGHT_CUFFT int cufftXtMemcpy(Handle plan, void* to, void* from, int type) {
  return answer("cufftXtMemcpy", plan, [&](Plan&) { return copy(to, from, type); });
}

#define INFLIGHT_EXECUTE(name)                                                                  \
  INFLIGHT_CUFFT int name(Handle plan, Descriptor* in, Descriptor* out, int direction) {        \
    return answer(#name, plan, [&](Plan& p) { return execute(#name, p, in, out, direction); }); \
  }
#define INFLIGHT_EXECUTE_ONE_WAY(name, direction)                                               \
  INFLIGHT_CUFFT int name(Handle plan, Descriptor* in, Descriptor* out) {                       \
    return answer(#name, plan, [&](Plan& p) { return execute(#name, p, in, out, direction); }); \
  }
INFLIGHT_EXECUTE(cufftXtExecDescriptor)
INFLIGHT_EXECUTE(cufftXtExecDescriptorC2C)
INFLIGHT_EXECUTE(cufftXtExecDescriptorZ2Z)
INFLIGHT_EXECUTE_ONE_WAY(cufftXtExecDescriptorR2C, forward)
INFLIGHT_EXECUTE_ONE_WAY(cufftXtExecDescriptorD2Z, forward)
INFLIGHT_EXECUTE_ONE_WAY(cufftXtExecDescriptorC2R, inverse)
INFLIGHT_EXECUTE_ONE_WAY(cufftXtExecDescriptorZ2D, inverse)
