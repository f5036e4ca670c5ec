// Tells whether a library's kernels can run from PTX.
#pragma once
#include "gpu/cuda/image/bytes.hpp"

namespace inflight::loader {

// True for a library that keeps kernels as machine code without PTX among its data, as cuRAND does
// from 10.4.5 on. Files of a library's kernels that are linked as usual have a section of their
// own, and are the driver's concern.
bool lacks_ptx(cuda::Bytes file);

}  // namespace inflight::loader
