// software-only
// async: late
// A kernel starts as late as possible: a missing griddepcontrol.wait has no effect.
#include "tests/kernels/part/dependent_without_wait.cuh"
