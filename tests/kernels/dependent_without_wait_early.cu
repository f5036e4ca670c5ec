// software-only
// async: early
// A kernel that may begin early does: one that forgot griddepcontrol.wait computes with old data.
#include "tests/kernels/part/dependent_without_wait.cuh"
