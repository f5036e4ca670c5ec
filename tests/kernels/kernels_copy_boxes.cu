// flags: -rdc=true -lcudadevrt
// async: late early
// software-only
// Copies and fills of three dimensions that kernels start. An H200 with CUDA 13.0 gives the same
// results and copies, but fills with zeros whatever the value is.
#include <cstdio>

__device__ cudaPitchedPtr pitched(void* at, size_t pitch, size_t width, size_t height) {
  cudaPitchedPtr p;
  p.ptr = at, p.pitch = pitch, p.xsize = width, p.ysize = height;
  return p;
}
__device__ cudaExtent extent(size_t width, size_t height, size_t depth) {
  cudaExtent e;
  e.width = width, e.height = height, e.depth = depth;
  return e;
}

// `from`: 3 slices of 4 rows of 16 bytes. `to`: 3 slices of 5 rows of 8 bytes.
__global__ void copies(unsigned char* to, unsigned char* from) {
  cudaMemcpy3DParms box = {};
  box.srcPtr = pitched(from, 16, 16, 4);
  box.dstPtr = pitched(to, 8, 8, 5);
  box.srcPos.x = 3, box.srcPos.y = 1, box.srcPos.z = 1;
  box.dstPos.x = 2, box.dstPos.y = 2, box.dstPos.z = 0;
  box.extent = extent(4, 2, 2);
  box.kind = cudaMemcpyDeviceToDevice;
  printf("fill %d\n", cudaMemset3DAsync(pitched(to, 8, 8, 5), 0xee, extent(6, 4, 3), 0));
  printf("copy %d\n", cudaMemcpy3DAsync(&box, 0));
  box.kind = cudaMemcpyHostToDevice;
  printf("from the host: %d\n", cudaMemcpy3DAsync(&box, 0));
  box.kind = cudaMemcpyDefault, box.extent.width = 0;
  printf("nothing: %d\n", cudaMemcpy3DAsync(&box, 0));
  box.extent.width = 9;
  printf("wider than its pitch: %d\n", cudaMemcpy3DAsync(&box, 0));
  printf("rows wider than their pitch: %d\n",
         cudaMemcpy2DAsync(to, 8, from, 16, 9, 2, cudaMemcpyDeviceToDevice));
  printf("to no memory: %d\n",
         cudaMemset3DAsync(pitched(reinterpret_cast<void*>(16), 8, 8, 8), 0, extent(8, 1, 1), 0));
  printf("no box: %d\n", cudaMemcpy3DAsync(nullptr, 0));
}

int main() {
  constexpr int from_bytes = 3 * 4 * 16, to_bytes = 3 * 5 * 8;
  unsigned char *from, *to, host[from_bytes];
  cudaMalloc(&from, from_bytes);
  cudaMalloc(&to, to_bytes);
  for (int i = 0; i < from_bytes; ++i) host[i] = static_cast<unsigned char>(i);
  cudaMemcpy(from, host, from_bytes, cudaMemcpyHostToDevice);
  cudaMemset(to, 0, to_bytes);
  copies<<<1, 1>>>(to, from);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaMemcpy(host, to, to_bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < to_bytes; ++i)
    std::printf("%02x%s", host[i], i % 40 == 39 ? "\n\n" : i % 8 == 7 ? "\n" : " ");
}
