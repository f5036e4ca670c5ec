// arch: sm_80
// software-only
// async: early
// Copies move their bytes at once: a missing wait in a kernel has no effect.
#include "tests/kernels/part/forgotten_wait.cuh"
