// options: --devices 2
// software-only
// Arrays on another device, accessed by copies and by textures and surfaces of kernels.
#include "tests/kernels/kernel_test.cuh"

__global__ void read(cudaTextureObject_t from, int* out) {
  out[threadIdx.x] = tex2D<int>(from, threadIdx.x, 0);
}
__global__ void write(cudaSurfaceObject_t to) {
  surf2Dwrite(100 + int(threadIdx.x), to, threadIdx.x * sizeof(int), 0);
}

constexpr int width = 8;

void tell(const char* what, cudaArray_t array) {
  int values[width];
  CHECK(cudaMemcpy2DFromArray(values, sizeof values, array, 0, 0, sizeof values, 1,
                              cudaMemcpyDeviceToHost));
  std::printf("%s: %d to %d\n", what, values[0], values[width - 1]);
}

int main() {
  int supported = 0;
  CHECK(cudaDeviceGetP2PAttribute(&supported, cudaDevP2PAttrCudaArrayAccessSupported, 0, 1));
  std::printf("supported: %d\n", supported);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t there, here;
  CHECK(cudaSetDevice(1));
  CHECK(cudaMallocArray(&there, &format, width, 1, cudaArraySurfaceLoadStore));
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaMallocArray(&here, &format, width, 1));
  const int values[width] = {1, 2, 3, 4, 5, 6, 7, 8};
  int* memory;
  CHECK(cudaMalloc(&memory, sizeof values));
  CHECK(cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DToArray(there, 0, 0, memory, sizeof values, sizeof values, 1,
                            cudaMemcpyDeviceToDevice));
  cudaMemcpy3DPeerParms across = {};
  across.srcArray = there, across.srcDevice = 1;
  across.dstArray = here, across.dstDevice = 0;
  across.extent = make_cudaExtent(width, 1, 1);
  CHECK(cudaMemcpy3DPeer(&across));
  tell("copied", here);

  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = there;
  const cudaTextureDesc plain = {};
  cudaTextureObject_t texture;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateTextureObject(&texture, &resource, &plain, nullptr));
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  CHECK(cudaMemset(memory, 0, sizeof values));
  read<<<1, width>>>(texture, memory);
  int seen[width];
  CHECK(cudaMemcpy(seen, memory, sizeof seen, cudaMemcpyDeviceToHost));
  std::printf("read: %d to %d\n", seen[0], seen[width - 1]);
  write<<<1, width>>>(surface);
  CHECK(cudaDeviceSynchronize());
  tell("written", there);
}
