// software-only
// async: late
// A kernel that may begin early does not: one that forgot griddepcontrol.wait does not notice.
#include "tests/kernels/part/dependent_without_wait.cuh"
