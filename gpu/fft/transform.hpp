// Transforms by the CPU's FFTW, with its plans kept for the next time.
#pragma once
#include <memory>

#include "gpu/fft/shape.hpp"

namespace inflight::fft {

// What a plan of cuFFT computes. Threads may use it at the same time.
class Transform {
 public:
  virtual ~Transform() = default;
  // Transforms `in` to `out`, which may be the same memory, in a direction (forward or inverse).
  // Returns false if the CPU's library cannot.
  virtual bool run(void* in, void* out, int direction) = 0;
};

// Null if the CPU has no FFTW for this precision.
std::unique_ptr<Transform> make_transform(const Shape& shape);

}  // namespace inflight::fft
