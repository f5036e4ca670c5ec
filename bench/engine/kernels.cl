// The four kernels of kernels.cuh in OpenCL C, statement by statement.
#define TILE 16
#define REDUCE_BLOCK 256

kernel void saxpy(int n, float a, global const float* x, global float* y) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}

kernel void sgemm(int n, global const float* a, global const float* b, global float* c) {
  local float as[TILE][TILE], bs[TILE][TILE];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_group_id(1) * TILE + ty, column = get_group_id(0) * TILE + tx;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    as[ty][tx] = a[row * n + t + tx];
    bs[ty][tx] = b[(t + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += as[ty][k] * bs[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

kernel void reduce(global const float* in, global float* out) {
  local float s[REDUCE_BLOCK];
  int t = get_local_id(0);
  s[t] = in[get_group_id(0) * REDUCE_BLOCK + t];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int w = REDUCE_BLOCK / 2; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = s[0];
}

kernel void bitonic(global uint* keys, int j, int k) {
  int i = get_global_id(0), other = i ^ j;
  if (other > i) {
    uint a = keys[i], b = keys[other];
    if ((a > b) == ((i & k) == 0)) {
      keys[i] = b;
      keys[other] = a;
    }
  }
}
