// software-only
// async: early
// A kernel starts as early as allowed: without griddepcontrol.wait, it computes with old data.
#include "tests/kernels/part/dependent_without_wait.cuh"
