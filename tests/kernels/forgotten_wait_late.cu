// arch: sm_80
// software-only
// async: late
// Bytes that move as late as they may: a kernel that forgot its wait sees the old ones.
#include "tests/kernels/part/forgotten_wait.cuh"
