// Green contexts: a device's primary context with a part of the multiprocessors and its own default
// stream (CUDA Driver API, "Green Contexts").
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/cuda/core/green/resource.hpp"
#include "gpu/cuda/core/queue/context.hpp"

namespace inflight::cuda {

class Stream;

class GreenContext {
 public:
  explicit GreenContext(std::shared_ptr<const Partition> partition);

  const std::shared_ptr<const Partition> partition;
  const std::shared_ptr<Context> context;  // what cuCtxFromGreenCtx returns
  // The context's id, as cuCtxGetId returns it.
  std::uint64_t id() const { return reinterpret_cast<std::uintptr_t>(context.get()); }
  const std::shared_ptr<Stream> null_stream;
};

Status create_green_context(void** place, const void* description, int device, unsigned flags);
Status destroy_green_context(const void* handle);
// invalid_context: no such green context.
Result<std::shared_ptr<GreenContext>> green_context_of(const void* handle);
// cuDevResourceGenerateDesc.
Status create_description(void** place, const DevResource* resources, unsigned count);

// The part of the device that kernels of this stream or context run on. Null: the whole device.
std::shared_ptr<const Partition> partition_of(const Stream& stream);
std::shared_ptr<const Partition> partition_of(const Context* context);
// The partition's limits, or the device's if it is null.
const machine::Limits& limits_of(const Partition* partition, const Device& device);

// The streams of a context. A primary context's streams include those of its device's green
// contexts.
std::vector<std::shared_ptr<Stream>> streams_of(const Context& context);
}  // namespace inflight::cuda
