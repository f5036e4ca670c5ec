// Texture and surface objects that are destroyed, and perhaps replaced, before a launched kernel
// reads them. The expected output is an H100's.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t e = (call);                                                    \
    if (e != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorName(e)); \
  } while (0)

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void read_texture(cudaTextureObject_t t, float* out) { *out = tex2D<float>(t, 0, 0); }
__global__ void read_surface(cudaSurfaceObject_t s, float* out) {
  *out = surf2Dread<float>(s, 0, 0);
}

cudaResourceDesc array_of(float value) {
  constexpr int size = 32;
  const std::vector<float> texels(size * size, value);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  CHECK(cudaMallocArray(&resource.res.array.array, &format, size, size, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpy2DToArray(resource.res.array.array, 0, 0, texels.data(), size * sizeof(float),
                            size * sizeof(float), size, cudaMemcpyHostToDevice));
  return resource;
}
cudaTextureObject_t texture_of(const cudaResourceDesc& array) {
  const cudaTextureDesc sampler{};
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &array, &sampler, nullptr));
  return texture;
}
cudaSurfaceObject_t surface_of(const cudaResourceDesc& array) {
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &array));
  return surface;
}

int main() {
  const cudaResourceDesc one = array_of(1), two = array_of(2);
  float* out;
  int *flag, *flag_there;
  CHECK(cudaMallocManaged(&out, 2 * sizeof(float)));
  CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&flag_there, flag, 0));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  // Loads the kernels.
  *flag = 1;
  wait_for<<<1, 1, 0, stream>>>(flag_there);
  read_texture<<<1, 1, 0, stream>>>(texture_of(one), out);
  read_surface<<<1, 1, 0, stream>>>(surface_of(one), out);
  CHECK(cudaStreamSynchronize(stream));
  for (const bool replaced : {false, true}) {
    const cudaTextureObject_t texture = texture_of(one);
    const cudaSurfaceObject_t surface = surface_of(one);
    out[0] = out[1] = *flag = 0;
    wait_for<<<1, 1, 0, stream>>>(flag_there);
    read_texture<<<1, 1, 0, stream>>>(texture, &out[0]);
    read_surface<<<1, 1, 0, stream>>>(surface, &out[1]);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(surface));
    if (replaced) texture_of(two), surface_of(two);
    *static_cast<volatile int*>(flag) = 1;
    CHECK(cudaStreamSynchronize(stream));
    std::printf("%s: texture %g, surface %g\n", replaced ? "replaced" : "destroyed", out[0],
                out[1]);
  }
}
