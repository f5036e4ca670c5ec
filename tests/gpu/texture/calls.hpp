// Results of the runtime's calls for arrays, textures and surfaces with valid and invalid
// arguments.
#pragma once
#include "memory.hpp"

namespace texture_truth {

class Calls {
 public:
  void all() {
    arrays();
    mipmapped();
    copies();
    textures();
    linear_textures();
    surfaces();
    limits();
  }

 private:
  static void tell(const char* call, const std::string& about, cudaError_t status) {
    std::printf("%s %s: %s\n", call, about.c_str(), cudaGetErrorName(status));
    cudaGetLastError();
  }
  static cudaChannelFormatDesc format(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return cudaCreateChannelDesc(x, y, z, w, kind);
  }
  static std::string text(std::initializer_list<std::size_t> numbers) {
    std::string s;
    for (std::size_t n : numbers) s += (s.empty() ? "" : " ") + std::to_string(n);
    return s;
  }
  static void try_array(const cudaChannelFormatDesc& c, cudaExtent e, unsigned flags) {
    cudaArray_t array = nullptr;
    const cudaError_t status = cudaMalloc3DArray(&array, &c, e, flags);
    std::string about = text({static_cast<std::size_t>(c.x), static_cast<std::size_t>(c.y),
                              static_cast<std::size_t>(c.z), static_cast<std::size_t>(c.w),
                              static_cast<std::size_t>(c.f)}) +
                        ", " + text({e.width, e.height, e.depth}) + ", " + std::to_string(flags);
    tell("cudaMalloc3DArray", about, status);
    if (status != cudaSuccess) return;
    cudaChannelFormatDesc got;
    cudaExtent extent;
    unsigned f;
    require(cudaArrayGetInfo(&got, &extent, &f, array), "cudaArrayGetInfo");
    std::printf("  is %d %d %d %d %d, %zu %zu %zu, %u\n", got.x, got.y, got.z, got.w, got.f,
                extent.width, extent.height, extent.depth, f);
    cudaFreeArray(array);
  }
  static void arrays() {
    const auto f = cudaChannelFormatKindFloat;
    const cudaChannelFormatDesc one = format(32, 0, 0, 0, f);
    const cudaExtent extents[] = {{0, 0, 0},      {16, 0, 0},    {16, 8, 0},       {16, 8, 4},
                                  {0, 8, 0},      {16, 0, 4},    {131072, 0, 0},   {131073, 0, 0},
                                  {131072, 2, 0}, {2, 65536, 0}, {2, 65537, 0},    {16384, 1, 1},
                                  {16385, 1, 1},  {1, 16385, 1}, {1, 1, 16384},    {1, 1, 16385},
                                  {32768, 0, 1},  {32769, 0, 1}, {1, 0, 2048},     {1, 0, 2049},
                                  {1, 1, 2048},   {32769, 1, 1}, {8, 8, 6},        {8, 8, 7},
                                  {8, 7, 6},      {8, 8, 12},    {32768, 32768, 6}};
    for (const cudaExtent& e : extents)
      for (unsigned flags : {0u, 1u, 2u, 4u, 5u, 8u}) {
        const std::size_t texels =
            (e.width ? e.width : 1) * (e.height ? e.height : 1) * (e.depth ? e.depth : 1);
        if (texels < 1u << 24) try_array(one, e, flags);
      }
    const cudaChannelFormatDesc formats[] = {format(0, 0, 0, 0, f),
                                             format(8, 0, 0, 0, f),
                                             format(16, 16, 0, 0, f),
                                             format(32, 32, 32, 0, f),
                                             format(32, 32, 32, 32, f),
                                             format(32, 0, 32, 0, f),
                                             format(0, 32, 0, 0, f),
                                             format(32, 16, 0, 0, f),
                                             format(8, 8, 8, 8, cudaChannelFormatKindUnsigned),
                                             format(8, 8, 8, 0, cudaChannelFormatKindUnsigned),
                                             format(64, 0, 0, 0, cudaChannelFormatKindUnsigned),
                                             format(7, 0, 0, 0, cudaChannelFormatKindUnsigned),
                                             format(16, 0, 0, 0, cudaChannelFormatKindSigned),
                                             format(32, 0, 0, 0, cudaChannelFormatKindNone)};
    for (const auto& c : formats)
      for (unsigned flags : {0u, 2u}) try_array(c, {16, 8, 0}, flags);
    for (unsigned flags : {3u, 6u, 7u, 9u, 16u, 32u}) try_array(one, {16, 16, 6}, flags);
    cudaArray_t array = nullptr;
    tell("cudaMallocArray", "null array", cudaMallocArray(nullptr, &one, 16, 8, 0));
    tell("cudaMallocArray", "null format", cudaMallocArray(&array, nullptr, 16, 8, 0));
    tell("cudaMallocArray", "layered", cudaMallocArray(&array, &one, 16, 8, 1));
    tell("cudaFreeArray", "null", cudaFreeArray(nullptr));
    require(cudaMallocArray(&array, &one, 16, 8, 0), "cudaMallocArray");
    tell("cudaArrayGetInfo", "no places", cudaArrayGetInfo(nullptr, nullptr, nullptr, array));
    cudaExtent e;
    tell("cudaArrayGetInfo", "null array", cudaArrayGetInfo(nullptr, &e, nullptr, nullptr));
    tell("cudaFreeArray", "array", cudaFreeArray(array));
  }
  static void mipmapped() {
    const cudaChannelFormatDesc one = format(32, 0, 0, 0, cudaChannelFormatKindFloat);
    for (unsigned levels : {0u, 1u, 5u, 6u, 7u, 20u})
      for (const cudaExtent& e : {cudaExtent{32, 0, 0}, {32, 8, 0}, {8, 8, 16}}) {
        cudaMipmappedArray_t m = nullptr;
        const cudaError_t status = cudaMallocMipmappedArray(&m, &one, e, levels, 0);
        tell("cudaMallocMipmappedArray",
             text({e.width, e.height, e.depth}) + ", " + std::to_string(levels), status);
        if (status != cudaSuccess) continue;
        for (unsigned level = 0; level < 8; ++level) {
          cudaArray_t array = nullptr;
          cudaExtent extent = {};
          const cudaError_t got = cudaGetMipmappedArrayLevel(&array, m, level);
          if (got == cudaSuccess) cudaArrayGetInfo(nullptr, &extent, nullptr, array);
          std::printf("  level %u: %s, %zu %zu %zu\n", level, cudaGetErrorName(got), extent.width,
                      extent.height, extent.depth);
          if (level == 0 && got == cudaSuccess)
            tell("cudaFreeArray", "a level", cudaFreeArray(array));
        }
        cudaGetLastError();
        tell("cudaFreeMipmappedArray", "it", cudaFreeMipmappedArray(m));
      }
    tell("cudaFreeMipmappedArray", "null", cudaFreeMipmappedArray(nullptr));
  }
  static void copies() {
    const cudaChannelFormatDesc one = format(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaArray_t array, other;
    require(cudaMallocArray(&array, &one, 16, 8, 0), "cudaMallocArray");
    require(cudaMallocArray(&other, &one, 8, 8, 0), "cudaMallocArray");
    static float host[1024];
    const auto up = cudaMemcpyHostToDevice;
    const auto to = [&](const char* about, std::size_t x, std::size_t y, std::size_t pitch,
                        std::size_t width, std::size_t height, cudaMemcpyKind kind) {
      tell("cudaMemcpy2DToArray", about,
           cudaMemcpy2DToArray(array, x, y, host, pitch, width, height, kind));
    };
    to("whole", 0, 0, 64, 64, 8, up);
    to("part", 4, 1, 64, 60, 7, up);
    to("odd start", 2, 0, 64, 60, 8, up);
    to("odd width", 0, 0, 64, 62, 8, up);
    to("too wide", 0, 0, 128, 68, 8, up);
    to("too high", 0, 0, 64, 64, 9, up);
    to("past the end", 8, 0, 64, 64, 8, up);
    to("pitch less than width", 0, 0, 32, 64, 8, up);
    to("no width", 0, 0, 64, 0, 8, up);
    to("no height", 0, 0, 64, 64, 0, up);
    to("wrong direction", 0, 0, 64, 64, 8, cudaMemcpyDeviceToHost);
    to("device source that is host's", 0, 0, 64, 64, 8, cudaMemcpyDeviceToDevice);
    to("default direction", 0, 0, 64, 64, 8, cudaMemcpyDefault);
    to("no direction", 0, 0, 64, 64, 8, static_cast<cudaMemcpyKind>(7));
    tell("cudaMemcpy2DToArray", "null array",
         cudaMemcpy2DToArray(nullptr, 0, 0, host, 64, 64, 8, up));
    tell("cudaMemcpy2DToArray", "null source",
         cudaMemcpy2DToArray(array, 0, 0, nullptr, 64, 64, 8, up));
    tell("cudaMemcpy2DFromArray", "whole",
         cudaMemcpy2DFromArray(host, 64, array, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
    tell("cudaMemcpy2DFromArray", "wrong direction",
         cudaMemcpy2DFromArray(host, 64, array, 0, 0, 64, 8, up));
    tell("cudaMemcpy2DArrayToArray", "part",
         cudaMemcpy2DArrayToArray(other, 0, 0, array, 32, 0, 32, 8, cudaMemcpyDeviceToDevice));
    tell("cudaMemcpy2DArrayToArray", "too wide",
         cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 64, 8, cudaMemcpyDeviceToDevice));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(host, 64, 16, 8);
    p.dstArray = array, p.kind = up, p.extent = {16, 8, 1};
    tell("cudaMemcpy3D", "whole", cudaMemcpy3D(&p));
    p.extent = {17, 8, 1};
    tell("cudaMemcpy3D", "too wide", cudaMemcpy3D(&p));
    p.extent = {16, 8, 0};
    tell("cudaMemcpy3D", "no depth", cudaMemcpy3D(&p));
    p.extent = {16, 8, 2};
    tell("cudaMemcpy3D", "too deep", cudaMemcpy3D(&p));
    p.extent = {8, 8, 1}, p.dstPos = {8, 0, 0};
    tell("cudaMemcpy3D", "right half", cudaMemcpy3D(&p));
    p.dstPos = {9, 0, 0};
    tell("cudaMemcpy3D", "past the end", cudaMemcpy3D(&p));
    p.dstPos = {0, 0, 0}, p.dstPtr = make_cudaPitchedPtr(host, 64, 16, 8);
    tell("cudaMemcpy3D", "two destinations", cudaMemcpy3D(&p));
    p.dstArray = nullptr, p.srcPtr = {}, p.dstPtr = {};
    tell("cudaMemcpy3D", "nothing", cudaMemcpy3D(&p));
    tell("cudaMemcpy3D", "null", cudaMemcpy3D(nullptr));
    cudaFreeArray(array), cudaFreeArray(other);
  }

  static cudaError_t create(const cudaResourceDesc& r, const cudaTextureDesc* d,
                            const cudaResourceViewDesc* v = nullptr) {
    cudaTextureObject_t t = 0;
    const cudaError_t status = cudaCreateTextureObject(&t, &r, d, v);
    if (status == cudaSuccess) cudaDestroyTextureObject(t);
    return status;
  }
  static void textures() {
    for (char kind : {'u', 's', 'f'})
      for (int bits : {8, 16, 32}) {
        if (kind == 'f' && bits == 8) continue;
        Texture t;
        t.format = {kind, bits, 4};
        const Memory memory(t);
        for (int linear : {0, 1})
          for (int as_float : {0, 1}) {
            cudaTextureDesc d = {};
            d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
            d.readMode = as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
            tell("cudaCreateTextureObject",
                 std::string(1, kind) + std::to_string(bits) + (linear ? " linear" : " point") +
                     (as_float ? " normalised float" : " element"),
                 create(memory.resource(), &d));
          }
      }
    Texture t;
    const Memory memory(t);
    const cudaResourceDesc& r = memory.resource();
    cudaTextureDesc d = {};
    const auto with = [&](const char* about, auto change) {
      cudaTextureDesc changed = d;
      change(changed);
      tell("cudaCreateTextureObject", about, create(r, &changed));
    };
    for (int mode = 0; mode < 5; ++mode)
      for (int normalized : {0, 1}) {
        const auto a = static_cast<cudaTextureAddressMode>(mode);
        with((std::string("address mode ") + std::to_string(mode) +
              (normalized ? " normalised" : ""))
                 .c_str(),
             [&](cudaTextureDesc& c) { c.addressMode[0] = a, c.normalizedCoords = normalized; });
      }
    with("filter mode 2", [](cudaTextureDesc& c) { c.filterMode = cudaTextureFilterMode(2); });
    with("read mode 2", [](cudaTextureDesc& c) { c.readMode = cudaTextureReadMode(2); });
    with("anisotropy 17", [](cudaTextureDesc& c) { c.maxAnisotropy = 17; });
    with("mip filter 2", [](cudaTextureDesc& c) { c.mipmapFilterMode = cudaTextureFilterMode(2); });
    with("sRGB of f32", [](cudaTextureDesc& c) { c.sRGB = 1; });
    with("seamless", [](cudaTextureDesc& c) { c.seamlessCubemap = 1; });
    with("bias 100", [](cudaTextureDesc& c) { c.mipmapLevelBias = 100; });
    tell("cudaCreateTextureObject", "null description", create(r, nullptr));
    cudaResourceDesc bad = r;
    bad.res.array.array = nullptr;
    tell("cudaCreateTextureObject", "null array", create(bad, &d));
    bad.resType = cudaResourceType(9);
    tell("cudaCreateTextureObject", "no such resource", create(bad, &d));
    cudaResourceViewDesc v = {};
    v.width = 16, v.height = 9;
    const auto view = [&](const char* about) {
      tell("cudaCreateTextureObject", about, create(r, &d, &v));
    };
    view("view of no format");
    v.format = cudaResViewFormatFloat4;
    view("view of its format");
    v.format = cudaResViewFormatUnsignedInt4;
    view("view of another kind");
    v.format = cudaResViewFormatFloat2;
    view("view of another size");
    v.format = cudaResViewFormatFloat4, v.width = 8;
    view("view of another width");
    cudaTextureObject_t object = 0;
    require(cudaCreateTextureObject(&object, &r, &d, nullptr), "cudaCreateTextureObject");
    cudaResourceViewDesc got;
    tell("cudaGetTextureObjectResourceViewDesc", "none",
         cudaGetTextureObjectResourceViewDesc(&got, object));
    tell("cudaDestroyTextureObject", "it", cudaDestroyTextureObject(object));
    tell("cudaDestroyTextureObject", "again", cudaDestroyTextureObject(object));
    tell("cudaDestroyTextureObject", "0", cudaDestroyTextureObject(0));
    cudaResourceDesc resource;
    tell("cudaGetTextureObjectResourceDesc", "of one destroyed",
         cudaGetTextureObjectResourceDesc(&resource, object));
  }
  static void linear_textures() {
    char* p = nullptr;
    require(cudaMalloc(&p, 1 << 20), "cudaMalloc");
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.desc = format(32, 0, 0, 0, cudaChannelFormatKindFloat);
    const auto linear = [&](const char* about, void* at, std::size_t bytes) {
      r.res.linear.devPtr = at, r.res.linear.sizeInBytes = bytes;
      tell("cudaCreateTextureObject", std::string("linear, ") + about, create(r, &d));
    };
    linear("whole", p, 1 << 20);
    linear("too long", p, 2 << 20);
    linear("null", nullptr, 64);
    linear("no bytes", p, 0);
    linear("odd bytes", p, 63);
    linear("16 bytes on", p + 16, 64);
    linear("256 bytes on", p + 256, 64);
    linear("4 bytes on", p + 4, 64);
    linear("host memory", &d, 64);
    d.filterMode = cudaFilterModeLinear;
    linear("filtered", p, 64);
    d.filterMode = cudaFilterModePoint, d.normalizedCoords = 1;
    linear("normalised", p, 64);
    d.normalizedCoords = 0, d.addressMode[0] = cudaAddressModeBorder;
    linear("border", p, 64);
    r = {}, d = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.desc = format(32, 0, 0, 0, cudaChannelFormatKindFloat);
    const auto pitched = [&](const char* about, void* at, std::size_t width, std::size_t height,
                             std::size_t pitch) {
      r.res.pitch2D.devPtr = at, r.res.pitch2D.width = width, r.res.pitch2D.height = height;
      r.res.pitch2D.pitchInBytes = pitch;
      tell("cudaCreateTextureObject", std::string("pitched, ") + about, create(r, &d));
    };
    pitched("plain", p, 16, 16, 512);
    pitched("pitch 64", p, 16, 16, 64);
    pitched("pitch 32", p, 8, 16, 32);
    pitched("pitch 48", p, 8, 16, 48);
    pitched("pitch 16", p, 4, 16, 16);
    pitched("pitch less than a row", p, 32, 16, 64);
    pitched("256 bytes on", p + 256, 16, 16, 512);
    pitched("32 bytes on", p + 32, 16, 16, 512);
    pitched("no height", p, 16, 0, 512);
    pitched("too long", p, 16, 4096, 512);
    cudaFree(p);
  }
  static void surfaces() {
    Texture t;
    const Memory plain(t), stored(t, cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t s = 0;
    tell("cudaCreateSurfaceObject", "array without the flag",
         cudaCreateSurfaceObject(&s, &plain.resource()));
    tell("cudaCreateSurfaceObject", "array with it",
         cudaCreateSurfaceObject(&s, &stored.resource()));
    cudaResourceDesc r;
    tell("cudaGetSurfaceObjectResourceDesc", "it", cudaGetSurfaceObjectResourceDesc(&r, s));
    tell("cudaDestroySurfaceObject", "it", cudaDestroySurfaceObject(s));
    tell("cudaDestroySurfaceObject", "again", cudaDestroySurfaceObject(s));
    tell("cudaCreateSurfaceObject", "null", cudaCreateSurfaceObject(&s, nullptr));
    t.shape = Shape::linear, t.height = 1;
    const Memory linear(t);
    tell("cudaCreateSurfaceObject", "linear memory",
         cudaCreateSurfaceObject(&s, &linear.resource()));
    t.shape = Shape::plane, t.height = 8, t.levels = 3;
    const Memory levels(t, cudaArraySurfaceLoadStore);
    tell("cudaCreateSurfaceObject", "mipmapped array",
         cudaCreateSurfaceObject(&s, &levels.resource()));
  }
  static void limits() {
    for (const Format& f : {Format{'f', 32, 1}, Format{'f', 32, 4}, Format{'u', 8, 1}}) {
      std::size_t width = 0;
      const cudaChannelFormatDesc c = channels_of(f);
      const cudaError_t status = cudaDeviceGetTexture1DLinearMaxWidth(&width, &c, 0);
      tell("cudaDeviceGetTexture1DLinearMaxWidth", std::to_string(f.bytes()), status);
      std::printf("  %zu\n", width);
    }
  }
};

}  // namespace texture_truth
