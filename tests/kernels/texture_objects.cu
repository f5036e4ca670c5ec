// Common uses of texture and surface objects: point and linear reads, address modes, volumes,
// layers, cubemaps, levels, gathers, linear and pitched memory, surfaces.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t e = (call);                                                    \
    if (e != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorName(e)); \
  } while (0)

constexpr int reads = 8;

struct Results {
  float* values;
  Results() { CHECK(cudaMallocManaged(&values, reads * sizeof(float))); }
  ~Results() { CHECK(cudaFree(values)); }
  void tell(const char* what) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::printf("%-20s", what);
    for (int i = 0; i < reads; ++i) std::printf(" %g", values[i]);
    std::printf("\n");
  }
};

template <class T>
cudaArray_t array_of(int width, int height, int depth, unsigned flags, float step = 1) {
  std::vector<T> texels(width * (height ? height : 1) * (depth ? depth : 1));
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<T>(i * step);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array;
  const cudaExtent extent = make_cudaExtent(width, height, depth);
  CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(texels.data(), width * sizeof(T), width, height ? height : 1);
  p.dstArray = array, p.kind = cudaMemcpyHostToDevice;
  p.extent = make_cudaExtent(width, height ? height : 1, depth ? depth : 1);
  CHECK(cudaMemcpy3D(&p));
  return array;
}

cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureDesc description) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

cudaTextureDesc sampler(cudaTextureFilterMode filter, cudaTextureAddressMode address,
                        bool normalized) {
  cudaTextureDesc d = {};
  d.filterMode = filter;
  for (auto& mode : d.addressMode) mode = address;
  d.normalizedCoords = normalized;
  d.borderColor[0] = -1;
  return d;
}

__global__ void plane(cudaTextureObject_t t, float x, float step, float y, float* out) {
  out[threadIdx.x] = tex2D<float>(t, x + threadIdx.x * step, y);
}
__global__ void volume(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex3D<float>(t, 1 + threadIdx.x * 0.25f, 1.5f, 2);
}
__global__ void layers(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x * 0.5f, 1, threadIdx.x);
}
__global__ void cube(cudaTextureObject_t t, float* out) {
  const float x[] = {1, -1, 0.2f, 0.2f, 0.5f, -0.5f, 0.9f, -0.9f};
  const float y[] = {0.5f, 0.5f, 1, -1, 0.1f, 0.1f, -1, 1};
  const float z[] = {0.1f, 0.1f, 0.4f, 0.4f, 1, -1, 0.3f, -0.3f};
  out[threadIdx.x] = texCubemap<float>(t, x[threadIdx.x], y[threadIdx.x], z[threadIdx.x]);
}
__global__ void levels(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, threadIdx.x * 0.5f - 0.5f);
}
__global__ void gather(cudaTextureObject_t t, float* out) {
  const float4 v = tex2Dgather<float4>(t, 3, 2, 0);
  out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
}
__global__ void fetch(cudaTextureObject_t t, float* out) {
  const short2 v = tex1Dfetch<short2>(t, threadIdx.x);
  out[threadIdx.x] = v.x * 100 + v.y;
}
__global__ void bytes(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex1D<float>(t, threadIdx.x * 8 + 0.5f);
}
__global__ void store(cudaSurfaceObject_t s) {
  surf2Dwrite(100.0f + threadIdx.x, s, threadIdx.x * 4, 1);
  surf2Dwrite(7.0f, s, 4 * (threadIdx.x + 100), 1, cudaBoundaryModeZero);
}
__global__ void load(cudaSurfaceObject_t s, float* out) {
  out[threadIdx.x] = surf2Dread<float>(s, (threadIdx.x * 3 - 3) * 4, 1, cudaBoundaryModeClamp);
}

void planes(Results& r) {
  cudaArray_t array = array_of<float>(8, 4, 0, 0);
  const struct {
    const char* name;
    cudaTextureAddressMode mode;
  } modes[] = {{"wrap", cudaAddressModeWrap},
               {"clamp", cudaAddressModeClamp},
               {"mirror", cudaAddressModeMirror},
               {"border", cudaAddressModeBorder}};
  for (const auto& m : modes) {
    const auto t = texture_of(array, sampler(cudaFilterModePoint, m.mode, true));
    plane<<<1, reads>>>(t, -0.5f, 0.3125f, 0.4f, r.values);
    r.tell(m.name);
    CHECK(cudaDestroyTextureObject(t));
  }
  const auto t = texture_of(array, sampler(cudaFilterModeLinear, cudaAddressModeClamp, false));
  plane<<<1, reads>>>(t, 0, 0.75f, 1.25f, r.values);
  r.tell("linear");
  CHECK(cudaDestroyTextureObject(t));
  CHECK(cudaFreeArray(array));
}

void shapes(Results& r) {
  const auto linear = sampler(cudaFilterModeLinear, cudaAddressModeClamp, false);
  cudaArray_t array = array_of<float>(4, 4, 4, 0);
  volume<<<1, reads>>>(texture_of(array, linear), r.values);
  r.tell("volume");
  CHECK(cudaFreeArray(array));
  array = array_of<float>(4, 2, 8, cudaArrayLayered);
  layers<<<1, reads>>>(texture_of(array, linear), r.values);
  r.tell("layers");
  CHECK(cudaFreeArray(array));
  array = array_of<float>(4, 4, 6, cudaArrayCubemap);
  cube<<<1, reads>>>(texture_of(array, sampler(cudaFilterModePoint, cudaAddressModeClamp, true)),
                     r.values);
  r.tell("cubemap");
  CHECK(cudaFreeArray(array));
  array = array_of<float>(8, 4, 0, cudaArrayTextureGather);
  gather<<<1, 1>>>(texture_of(array, linear), r.values);
  r.tell("gather");
  CHECK(cudaFreeArray(array));
  auto normal = linear;
  normal.readMode = cudaReadModeNormalizedFloat;
  array = array_of<unsigned char>(64, 0, 0, 0, 4);
  bytes<<<1, reads>>>(texture_of(array, normal), r.values);
  r.tell("bytes as floats");
  CHECK(cudaFreeArray(array));
}

void mipmapped(Results& r) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t array;
  CHECK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(8, 8, 0), 4));
  for (int level = 0; level < 4; ++level) {
    const int side = 8 >> level;
    const std::vector<float> texels(side * side, 10.0f * level);
    cudaArray_t one;
    CHECK(cudaGetMipmappedArrayLevel(&one, array, level));
    CHECK(cudaMemcpy2DToArray(one, 0, 0, texels.data(), side * 4, side * 4, side,
                              cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = array;
  auto description = sampler(cudaFilterModeLinear, cudaAddressModeClamp, true);
  description.mipmapFilterMode = cudaFilterModeLinear;
  description.maxMipmapLevelClamp = 2.5f;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  levels<<<1, reads>>>(texture, r.values);
  r.tell("levels");
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeMipmappedArray(array));
}

void memory(Results& r) {
  short2* values;
  CHECK(cudaMallocManaged(&values, reads * sizeof(short2)));
  for (short i = 0; i < reads; ++i) values[i] = make_short2(i, static_cast<short>(10 - i));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = values;
  resource.res.linear.desc = cudaCreateChannelDesc<short2>();
  resource.res.linear.sizeInBytes = reads * sizeof(short2);
  cudaTextureDesc description = {};
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  fetch<<<1, reads>>>(texture, r.values);
  r.tell("linear memory");
  cudaResourceDesc got;
  CHECK(cudaGetTextureObjectResourceDesc(&got, texture));
  std::printf("its memory %d, its bytes %zu\n", got.res.linear.devPtr == values,
              got.res.linear.sizeInBytes);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(values));
}

__global__ void store_bytes(cudaSurfaceObject_t s) {
  const unsigned i = threadIdx.x;
  surf2Dwrite(static_cast<unsigned char>(10 + i), s, i % 4, i / 4);
  surf2Dwrite(make_uchar2(1 + i, 20 + i), s, i % 4 * 2, 8 + i / 4);
}
__global__ void load_bytes(cudaSurfaceObject_t s, float* out) {
  const unsigned i = threadIdx.x;
  const uchar2 pair = surf2Dread<uchar2>(s, i % 4 * 2, 8 + i / 4);
  out[i] = surf2Dread<unsigned char>(s, i % 4, i / 4) + 100 * pair.x + 10000 * pair.y;
}

void surfaces_of_bytes(Results& r) {
  cudaArray_t array = array_of<unsigned char>(8, 16, 0, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  store_bytes<<<1, reads>>>(surface);
  load_bytes<<<1, reads>>>(surface, r.values);
  r.tell("surface of bytes");
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
}

void surfaces(Results& r) {
  cudaArray_t array = array_of<float>(16, 4, 0, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  store<<<1, reads>>>(surface);
  load<<<1, reads>>>(surface, r.values);
  r.tell("surface");
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
}

int main() {
  Results r;
  planes(r);
  shapes(r);
  mipmapped(r);
  memory(r);
  surfaces(r);
  surfaces_of_bytes(r);
}
