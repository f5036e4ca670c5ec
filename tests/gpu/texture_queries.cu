// arch: sm_90
// Prints the sizes that txq and suq return for textures and surfaces of every kind, and which
// layers a view of a layered texture reads. A real GPU's output is the reference for the software
// GPU.
//
// nvcc -std=c++17 -arch=sm_90 -o texture_queries texture_queries.cu
#include <cuda_fp16.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void require(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", call, cudaGetErrorName(error));
  std::exit(1);
}

// The others are refused by an H100's and an H200's driver: it does not load a module that has one
// of them.
#define QUERIES(Q) Q(width) Q(height) Q(depth)

#define KERNEL(query)                                                   \
  __global__ void ask_##query(cudaTextureObject_t t, unsigned* out) {   \
    asm volatile("txq." #query ".b32 %0, [%1];" : "=r"(*out) : "l"(t)); \
  }
#define SURFACE_KERNEL(query)                                                 \
  __global__ void ask_surface_##query(cudaSurfaceObject_t s, unsigned* out) { \
    asm volatile("suq." #query ".b32 %0, [%1];" : "=r"(*out) : "l"(s));       \
  }
QUERIES(KERNEL)
QUERIES(SURFACE_KERNEL)

struct Query {
  const char* name;
  void (*kernel)(unsigned long long, unsigned*);
};
#define ENTRY(query) {#query, ask_##query},
#define SURFACE_ENTRY(query) {#query, ask_surface_##query},
constexpr Query queries[] = {QUERIES(ENTRY)}, surface_queries[] = {QUERIES(SURFACE_ENTRY)};

__global__ void query_levels(cudaTextureObject_t t, unsigned* out) {
  for (unsigned level = 0; level < 7; ++level) {
    asm volatile("txq.level.width.b32 %0, [%1], %2;" : "=r"(*out) : "l"(t), "r"(level));
    ++out;
    asm volatile("txq.level.height.b32 %0, [%1], %2;" : "=r"(*out) : "l"(t), "r"(level));
    ++out;
  }
}
__global__ void read_layers(cudaTextureObject_t t, float* out) {
  for (int layer = 0; layer < 4; ++layer) out[layer] = tex2DLayered<float>(t, 1.5f, 1.5f, layer);
}

template <class T>
std::vector<T> result(T* device, std::size_t count) {
  require(cudaGetLastError(), "launch");
  std::vector<T> host(count);
  require(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), "kernel");
  return host;
}

unsigned* scratch() {
  static unsigned* const memory = [] {
    unsigned* p = nullptr;
    require(cudaMalloc(&p, 4096), "cudaMalloc");
    return p;
  }();
  require(cudaMemset(memory, 0xee, 4096), "cudaMemset");
  return memory;
}

template <std::size_t count>
void print(const std::string& name, const Query (&all)[count], unsigned long long handle) {
  std::printf("%s:", name.c_str());
  for (const Query& each : all) {
    unsigned* const out = scratch();
    each.kernel<<<1, 1>>>(handle, out);
    if (const cudaError_t error = cudaGetLastError())
      std::printf(" %s %s", each.name, cudaGetErrorName(error));
    else
      std::printf(" %s %u", each.name, result(out, 1)[0]);
  }
  std::printf("\n");
}

struct Sampling {
  const char* name;
  cudaTextureAddressMode address[3];
  cudaTextureFilterMode filter;
  bool normalized;
  cudaTextureReadMode read;
};
constexpr auto wrap = cudaAddressModeWrap, clamp = cudaAddressModeClamp,
               mirror = cudaAddressModeMirror, border = cudaAddressModeBorder;
constexpr Sampling plain{
    "point-clamp", {clamp, clamp, clamp}, cudaFilterModePoint, false, cudaReadModeElementType};

void show(const std::string& name, const cudaResourceDesc& resource, const Sampling& how,
          const cudaResourceViewDesc* view = nullptr) {
  cudaTextureDesc d{};
  for (int i = 0; i < 3; ++i) d.addressMode[i] = how.address[i];
  d.filterMode = how.filter, d.normalizedCoords = how.normalized, d.readMode = how.read;
  cudaTextureObject_t t = 0;
  const std::string full = "txq " + name + " " + how.name;
  if (const cudaError_t error = cudaCreateTextureObject(&t, &resource, &d, view); error) {
    std::printf("%s: %s\n", full.c_str(), cudaGetErrorName(error));
    cudaGetLastError();
    return;
  }
  print(full, queries, t);
  require(cudaDestroyTextureObject(t), "cudaDestroyTextureObject");
}

void show_surface(const std::string& name, const cudaResourceDesc& resource) {
  cudaSurfaceObject_t s = 0;
  if (const cudaError_t error = cudaCreateSurfaceObject(&s, &resource); error) {
    std::printf("suq %s: %s\n", name.c_str(), cudaGetErrorName(error));
    cudaGetLastError();
    return;
  }
  print("suq " + name, surface_queries, s);
  require(cudaDestroySurfaceObject(s), "cudaDestroySurfaceObject");
}

cudaResourceDesc array_of(const cudaChannelFormatDesc& format, cudaExtent size, unsigned flags) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  require(cudaMalloc3DArray(&r.res.array.array, &format, size, flags), "cudaMalloc3DArray");
  return r;
}

template <class T>
cudaChannelFormatDesc format() {
  return cudaCreateChannelDesc<T>();
}

void formats_and_samplers() {
  const struct {
    const char* name;
    cudaChannelFormatDesc format;
    bool filtered;  // as floats
  } kinds[] = {{"u8x4", format<uchar4>(), true},
               {"s8x1", format<signed char>(), true},
               {"u16x2", format<ushort2>(), true},
               {"s16x1", format<short>(), true},
               {"u32x1", format<unsigned>(), false},
               {"s32x4", format<int4>(), false},
               {"f32x1", format<float>(), true},
               {"f32x4", format<float4>(), true},
               {"f16x2", cudaCreateChannelDescHalf2(), true}};
  for (const auto& kind : kinds) {
    const auto array = array_of(kind.format, {40, 24, 0}, cudaArraySurfaceLoadStore);
    show(std::string("2d-40x24/") + kind.name, array, plain);
    show_surface(std::string("2d-40x24/") + kind.name, array);
    if (!kind.filtered) continue;
    const auto read = kind.format.f == cudaChannelFormatKindFloat ? cudaReadModeElementType
                                                                  : cudaReadModeNormalizedFloat;
    show(std::string("2d-40x24/") + kind.name, array,
         {"linear-wrap-mirror-border-normalized",
          {wrap, mirror, border},
          cudaFilterModeLinear,
          true,
          read});
    show(std::string("2d-40x24/") + kind.name, array,
         {"point-border-clamp-wrap-normalized",
          {border, clamp, wrap},
          cudaFilterModePoint,
          true,
          read});
  }
}

void shapes() {
  const auto f = format<float>();
  const struct {
    const char* name;
    cudaExtent size;
    unsigned flags;
  } arrays[] = {{"1d-50", {50, 0, 0}, 0},
                {"2d-40x24", {40, 24, 0}, 0},
                {"3d-8x6x5", {8, 6, 5}, 0},
                {"1d-layers-50x3", {50, 0, 3}, cudaArrayLayered},
                {"2d-layers-40x24x3", {40, 24, 3}, cudaArrayLayered},
                {"cube-16", {16, 16, 6}, cudaArrayCubemap},
                {"cube-layers-16x2", {16, 16, 12}, cudaArrayCubemap | cudaArrayLayered}};
  for (const auto& each : arrays) {
    const auto array = array_of(f, each.size, each.flags | cudaArraySurfaceLoadStore);
    show(each.name, array, plain);
    show_surface(each.name, array);
  }
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  require(cudaMalloc(&linear.res.linear.devPtr, 400), "cudaMalloc");
  linear.res.linear.desc = f, linear.res.linear.sizeInBytes = 400;
  show("linear-100", linear, plain);
  cudaResourceDesc pitch{};
  pitch.resType = cudaResourceTypePitch2D;
  auto& p = pitch.res.pitch2D;
  require(cudaMallocPitch(&p.devPtr, &p.pitchInBytes, 160, 24), "cudaMallocPitch");
  p.desc = f, p.width = 40, p.height = 24;
  show("pitch-40x24", pitch, plain);
  cudaMipmappedArray_t mipmapped;
  require(cudaMallocMipmappedArray(&mipmapped, &f, {64, 24, 0}, 5), "cudaMallocMipmappedArray");
  cudaResourceDesc levels{};
  levels.resType = cudaResourceTypeMipmappedArray;
  levels.res.mipmap.mipmap = mipmapped;
  const Sampling normalized{"linear-clamp-normalized",
                            {clamp, clamp, clamp},
                            cudaFilterModeLinear,
                            true,
                            cudaReadModeElementType};
  show("levels-64x24x5", levels, normalized);
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatFloat1;
  view.width = 64, view.height = 24;
  view.firstMipmapLevel = 1, view.lastMipmapLevel = 3;
  show("levels-64x24x5-view-1-to-3", levels, normalized, &view);
  cudaTextureDesc d{};
  d.normalizedCoords = 1;
  cudaTextureObject_t t = 0;
  require(cudaCreateTextureObject(&t, &levels, &d, nullptr), "cudaCreateTextureObject");
  unsigned* const out = scratch();
  query_levels<<<1, 1>>>(t, out);
  std::printf("txq.level:");
  for (const unsigned each : result(out, 14)) std::printf(" %u", each);
  std::printf("\n");
}

// A view from layer `first` to layer `last` of four layers, whose texels are 10 times the layer.
void views() {
  const auto f = format<float>();
  const auto array = array_of(f, {4, 4, 4}, cudaArrayLayered);
  std::vector<float> texels(64);
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = 10.0f * float(i / 16);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), 16, 4, 4);
  copy.dstArray = array.res.array.array;
  copy.extent = {4, 4, 4};
  copy.kind = cudaMemcpyHostToDevice;
  require(cudaMemcpy3D(&copy), "cudaMemcpy3D");
  for (const auto& [first, last, depth] : {std::array{0u, 0u, 0u},
                                           {0u, 0u, 4u},
                                           {0u, 1u, 0u},
                                           {0u, 1u, 4u},
                                           {0u, 1u, 2u},
                                           {1u, 1u, 4u},
                                           {1u, 2u, 0u},
                                           {1u, 2u, 4u},
                                           {0u, 3u, 0u},
                                           {0u, 3u, 4u},
                                           {2u, 0u, 4u},
                                           {3u, 3u, 4u}}) {
    cudaResourceViewDesc view{};
    view.format = cudaResViewFormatFloat1;
    view.width = 4, view.height = 4, view.depth = depth;
    view.firstLayer = first, view.lastLayer = last;
    const std::string name = "view-of-depth-" + std::to_string(depth) + "-layers-" +
                             std::to_string(first) + "-to-" + std::to_string(last);
    show(name, array, plain, &view);
    cudaTextureDesc d{};
    cudaTextureObject_t t = 0;
    if (cudaCreateTextureObject(&t, &array, &d, &view) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    auto* const out = reinterpret_cast<float*>(scratch());
    read_layers<<<1, 1>>>(t, out);
    std::printf("%s reads", name.c_str());
    for (const float each : result(out, 4)) std::printf(" %g", each);
    std::printf("\n");
  }
}

}  // namespace

int main() {
  formats_and_samplers();
  shapes();
  views();
}
