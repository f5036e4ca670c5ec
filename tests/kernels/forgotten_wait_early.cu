// arch: sm_80
// software-only
// async: early
// Bytes that move at once: a kernel that forgot its wait does not notice.
#include "tests/kernels/part/forgotten_wait.cuh"
