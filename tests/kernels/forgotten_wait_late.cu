// arch: sm_80
// software-only
// async: late
// Copies move their bytes as late as allowed: a kernel with a missing wait sees the old ones.
#include "tests/kernels/part/forgotten_wait.cuh"
