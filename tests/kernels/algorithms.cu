// Whole algorithms in shared memory: matrix product, bitonic sort, histogram, transpose, stencil,
// block reductions. The host checks the results too.
#include "tests/kernels/kernel_test.cuh"

#include <algorithm>

__global__ void multiply(float* c, const float* a, const float* b, int n) {
  __shared__ float ta[16][16], tb[16][17];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    ta[y][x] = a[row * n + k + x];
    tb[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += ta[y][i] * tb[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void sort(unsigned* v) {
  __shared__ unsigned s[512];
  int t = threadIdx.x;
  s[t] = v[blockIdx.x * 512 + t];
  for (int size = 2; size <= 512; size *= 2)
    for (int d = size / 2; d; d /= 2) {
      __syncthreads();
      int other = t ^ d;
      if (other > t && (s[t] > s[other]) == !(t & size)) {
        unsigned swap = s[t];
        s[t] = s[other];
        s[other] = swap;
      }
    }
  __syncthreads();
  v[blockIdx.x * 512 + t] = s[t];
}

__global__ void histogram(unsigned* bins, const unsigned char* in, int n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void transpose(int* out, const int* in, int w, int h) {
  __shared__ int tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (x < w && y + i < h) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (x < h && y + i < w) out[(y + i) * h + x] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void stencil(int* out, const int* in, int n) {
  __shared__ int s[128 + 6];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x + 3] = i < n ? in[i] : 0;
  if (threadIdx.x < 3) {
    s[threadIdx.x] = i >= 3 ? in[i - 3] : 0;
    s[threadIdx.x + 131] = i + 128 < n ? in[i + 128] : 0;
  }
  __syncthreads();
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k < 7; ++k) sum += s[threadIdx.x + k] * (k + 1);
  out[i] = sum;
}

int main() {
  Random random(16);
  const int n = 64;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (float& v : a) v = int(random.next32() % 17) - 8;
  for (float& v : b) v = int(random.next32() % 17) - 8;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
  Buffer<float> da(a), db(b), dc(n * n);
  multiply<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(dc, da, db, n);
  std::printf("multiply: %s\n", dc.read() == c ? "right" : "wrong");

  std::vector<unsigned> keys(2048);
  for (unsigned& v : keys) v = random.next32();
  Buffer<unsigned> dk(keys);
  sort<<<4, 512>>>(dk);
  for (int i = 0; i < 4; ++i) std::sort(keys.begin() + i * 512, keys.begin() + (i + 1) * 512);
  std::printf("sort: %s\n", dk.read() == keys ? "right" : "wrong");

  std::vector<unsigned char> bytes(10000);
  std::vector<unsigned> bins(256);
  for (unsigned char& v : bytes) ++bins[v = random.next32() % 7 * (random.next32() % 37)];
  Buffer<unsigned char> dbytes(bytes);
  Buffer<unsigned> dbins(256);
  histogram<<<5, 256>>>(dbins, dbytes, 10000);
  std::printf("histogram: %s\n", dbins.read() == bins ? "right" : "wrong");

  const int w = 75, h = 50;
  std::vector<int> in(w * h), turned(w * h);
  for (int i = 0; i < w * h; ++i) in[i] = i * 7;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) turned[x * h + y] = in[y * w + x];
  Buffer<int> din(in), dout(w * h);
  transpose<<<dim3(3, 2), dim3(32, 8)>>>(dout, din, w, h);
  std::printf("transpose: %s\n", dout.read() == turned ? "right" : "wrong");

  std::vector<int> smooth(w * h);
  for (int i = 0; i < w * h; ++i)
    for (int k = -3; k <= 3; ++k)
      if (i + k >= 0 && i + k < w * h) smooth[i] += in[i + k] * (k + 4);
  stencil<<<(w * h + 127) / 128, 128>>>(dout, din, w * h);
  std::printf("stencil: %s\n", dout.read() == smooth ? "right" : "wrong");
  print_checksum("stencil", dout.host);
}
