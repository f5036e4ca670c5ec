// Two headers that define the same names.
// error: both define the same names: include one of them
#include <cuda_pipeline.h>
#include <inflight/cuda_pipeline.h>
