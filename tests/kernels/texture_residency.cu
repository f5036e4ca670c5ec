// Texture reads that also say whether the texels are resident. All are, except in sparse arrays.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void read(cudaTextureObject_t plane, cudaTextureObject_t volume, float* values,
                     bool* resident) {
  values[0] = tex2D<float>(plane, 1.5f, 0.5f, resident);
  values[1] = tex2DLod<float>(plane, 2.5f, 1.5f, 0.0f, resident + 1);
  values[2] = tex2DGrad<float>(plane, 0.5f, 1.5f, make_float2(0, 0), make_float2(0, 0),
                               resident + 2);
  values[3] = tex2Dgather<float4>(plane, 2.0f, 1.0f, resident + 3, 0).x;
  values[4] = tex3D<float>(volume, 1.5f, 0.5f, 1.5f, resident + 4);
  // Outside the plane.
  values[5] = tex2D<float>(plane, 90.0f, 90.0f, resident + 5);
}

cudaTextureObject_t texture_of(cudaExtent extent, unsigned flags) {
  float texels[16];
  for (int i = 0; i < 16; ++i) texels[i] = 10 + i;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMalloc3DArray(&array, &format, extent, flags);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(texels, extent.width * sizeof(float), extent.width, extent.height);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, extent.height, extent.depth ? extent.depth : 1);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  return texture;
}

int main() {
  constexpr int reads = 6;
  float* values;
  bool* resident;
  cudaMallocManaged(&values, reads * sizeof(float));
  cudaMallocManaged(&resident, reads);
  read<<<1, 1>>>(texture_of(make_cudaExtent(4, 4, 0), cudaArrayTextureGather),
                 texture_of(make_cudaExtent(2, 2, 4), 0), values, resident);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  for (int i = 0; i < reads; ++i) std::printf("%g %d\n", values[i], resident[i]);
}
