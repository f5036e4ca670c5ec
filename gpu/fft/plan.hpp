// A cuFFT plan: the transforms that it makes, and a program's settings for them.
#pragma once
#include <memory>
#include <vector>

#include "gpu/fft/call.hpp"
#include "gpu/fft/shape.hpp"
#include "gpu/fft/transform.hpp"

namespace inflight::fft {

// A plan after a cufftMakePlan call.
struct Made {
  Shape shape;
  std::unique_ptr<Transform> transform;
};

struct Plan {
  std::vector<int> devices;  // of a plan for several GPUs (cufftXtSetGPUs)
  void* stream = nullptr;    // cudaStream_t; null: the default stream
  std::shared_ptr<const Made> made;
  std::size_t work_bytes = 0;
  void* work_area = nullptr;  // the program's
  bool allocates = true;      // the work area is the library's
  long long patient_jit = 0;
};

// Creates a plan without transforms (setup_failed: no device, or a context with an error).
Result create(Handle* place);
// Waits for the plan's stream and removes the plan (invalid_plan).
Result destroy(Handle handle);
// Returns the live plan, or null.
std::shared_ptr<Plan> find(Handle handle);

// answer() for a call with a plan: body(Plan&), or invalid_plan.
template <class Body>
int answer(const char* name, Handle handle, Body body) {
  return answer(name, [&] {
    const auto plan = find(handle);
    return plan ? body(*plan) : Result::invalid_plan;
  });
}

}  // namespace inflight::fft
