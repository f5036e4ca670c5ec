// The other translation unit of units.cu.
__device__ int twice(int value) { return 2 * value; }
