// Elements of a grid, one after another in the type of the computation, and back.
#pragma once
#include "gpu/fft/shape.hpp"

namespace inflight::fft {

// Copies a grid's elements to `to`, in the order batch, dimension 0, 1, 2, as Real (float for f16
// and bf16).
template <class Real>
void gather(const void* from, const Grid& grid, Precision precision, Real* to);
// The reverse, rounded to the elements' precision.
template <class Real>
void scatter(const Real* from, const Grid& grid, Precision precision, void* to);

}  // namespace inflight::fft
