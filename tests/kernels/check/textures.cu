// Textures and surfaces read and write memory like other accesses: of memory that another thread
// writes, that nothing has written, that is freed.
#include "tests/kernels/check/check_test.cuh"

constexpr int threads = 64;

cudaTextureObject_t texture_of(int* memory) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = threads * sizeof(int);
  const cudaTextureDesc description = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  return texture;
}

// Thread t reads through a texture what another warp writes through a pointer.
template <bool right>
__global__ void exchange(int* memory, cudaTextureObject_t texture, int* out) {
  const int t = threadIdx.x;
  memory[t] = t;  // [write]
  if (right) __syncthreads();
  out[t] = tex1Dfetch<int>(texture, (t + 32) % threads);  // [read]
}
template <bool right>
void race() {
  Buffer<int> memory(threads), out(threads);
  exchange<right><<<1, threads>>>(memory, texture_of(memory), out);
  out.read();
}

// Threads of two warps store to one place of a surface.
template <bool right>
__global__ void store(cudaSurfaceObject_t surface) {
  const int t = threadIdx.x;
  surf2Dwrite(t, surface, (right ? t : t % 32) * 4, 0);  // [store]
}
template <bool right>
void surface() {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaMallocArray(&array, &format, threads, 1, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t object;
  cudaCreateSurfaceObject(&object, &resource);
  store<right><<<1, threads>>>(object);
  cudaDeviceSynchronize();
  cudaDestroySurfaceObject(object);
  cudaFreeArray(array);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", race<false>},
                   {"twin", race<true>},
                   {"surface", surface<false>},
                   {"surface_twin", surface<true>}});
}
