// flags: -lcuda
// The driver's textures filter integers that are read as integers; the runtime's refuse to.
#include <cuda.h>

#include <cstdio>
#include <cstring>

__global__ void fetch(cudaTextureObject_t texture, int* out) {
  const float x = threadIdx.x * 0.09375f, y = 0.25f + threadIdx.x % 7 * 0.4375f;
  int4 v;
  asm("tex.2d.v4.s32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(texture), "f"(x), "f"(y));
  out[threadIdx.x] = v.x;
}

constexpr int threads = 96, pitch = 512, rows = 4;

int runtime_answer(void* texels) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {texels, cudaCreateChannelDesc<unsigned char>(), 8, rows, pitch};
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  return cudaCreateTextureObject(&texture, &resource, &how, nullptr);
}

int main() {
  unsigned char bytes[pitch * rows];
  unsigned state = 1;
  for (unsigned char& b : bytes) b = (state = state * 1664525u + 1013904223u) >> 24;
  void* texels;
  int *out, values[threads];
  cudaMalloc(&texels, sizeof bytes);
  cudaMalloc(&out, sizeof values);
  cudaMemcpy(texels, bytes, sizeof bytes, cudaMemcpyDefault);
  const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
                                    CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
                                    CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32};
  for (const CUarray_format format : formats) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {CUdeviceptr(texels), format, 2, 8, rows, pitch};
    CUDA_TEXTURE_DESC how{};
    how.filterMode = CU_TR_FILTER_MODE_LINEAR;
    how.flags = CU_TRSF_READ_AS_INTEGER;
    CUtexObject texture = 0;
    std::printf("format %d: %d\n", format, cuTexObjectCreate(&texture, &resource, &how, nullptr));
    fetch<<<1, threads>>>(texture, out);
    std::memset(values, 0, sizeof values);
    cudaMemcpy(values, out, sizeof values, cudaMemcpyDefault);
    for (int i = 0; i < threads; ++i) std::printf("%d%c", values[i], i % 12 == 11 ? '\n' : ' ');
  }
  std::printf("runtime: %d\n", runtime_answer(texels));
}
