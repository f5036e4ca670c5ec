// Prints a hash of what a GPU reads with anisotropic filters, for many gradients and kinds of
// textures. A real GPU's output is the reference for the software GPU's gpu/texture/ellipse.cpp and
// gpu/texture/probes.cpp.
//
// nvcc -std=c++17 -arch=sm_90 -o texture_anisotropy texture_anisotropy.cu
//
// texture_anisotropy [FILE]: also writes each result as a float to FILE.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

void require(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", call, cudaGetErrorName(error));
  std::exit(1);
}
#define REQUIRE(call) require(call, #call)

__host__ __device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352d;
  x = (x ^ x >> 15) * 0x846ca68b;
  return x ^ x >> 16;
}
__device__ float unit(unsigned bits) { return float(bits >> 8) / 16777216.0f; }
// All bits of the significand, from 1/16 of a texel to 128 texels.
__device__ float random_span(unsigned bits) {
  const float size = ldexpf(1 + float(bits >> 9 & 0x3fffff) / 4194304.0f, int(bits % 11) - 4);
  return bits >> 31 ? -size : size;
}

// Gradients along x and y, in texels.
struct Spans {
  float x[3], y[3];
};
struct Read {
  float at[3];
  Spans spans;
  __device__ explicit Read(unsigned i) {
    for (unsigned d = 0; d < 3; ++d) {
      at[d] = unit(mixed(3 * i + d + 1000003));
      spans.x[d] = random_span(mixed(mixed(6 * i + d)));
      spans.y[d] = random_span(mixed(mixed(6 * i + d + 3)));
    }
  }
};

// --- Levels: pairs of significands of ten bits, or random numbers. ---

#define SETS(X)                                  \
  X(aligned, ({{8 * a}, {0, b}}))                \
  X(sheared, ({{64}, {a, b}}))                   \
  X(sheared_along, ({{8 * a}, {b, 8}}))          \
  X(rotated, ({{2 * a, 2 * b}, {-b, a}}))        \
  X(rotated_far, ({{8 * a, 8 * b}, {-b, a}}))    \
  X(nearly_parallel, ({{4 * a, b}, {12, 3}}))    \
  X(any, ({{r.x[0], r.x[1]}, {r.y[0], r.y[1]}})) \
  X(any_long, ({{8 * r.x[0], 8 * r.x[1]}, {8 * r.y[0], 8 * r.y[1]}}))
constexpr unsigned levels_of_a_set = 1 << 16;

#define UNWRAPPED(...) __VA_ARGS__
#define KERNEL(name, value)                                                                        \
  __global__ void name(cudaTextureObject_t t, float size, float* out) {                            \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = i * 4 + (i >> 14);               \
    const float a = 8.0f * float(512 + (k >> 9 & 511)) / 512;                                      \
    const float b = 8.0f * float(512 + (k & 511)) / 512;                                           \
    const Spans r = Read(i).spans;                                                                 \
    (void)a, (void)b, (void)r;                                                                     \
    const Spans s UNWRAPPED value;                                                                 \
    out[i] =                                                                                       \
        tex2DGrad<float>(t, 0, 0, {s.x[0] / size, s.x[1] / size}, {s.y[0] / size, s.y[1] / size}); \
  }
SETS(KERNEL)

// --- Reads of any texels. ---

enum class Shape { line, plane, planes, cube, lines, volume };
constexpr unsigned reads_of_a_form = 1 << 13;

struct Form {
  const char* name;
  Shape shape = Shape::plane;
  char kind = 'f';
  int bits = 32, channels = 1, width = 64, height = 64, levels = 7;
  bool linear = true, mip_linear = true, normalized = true, srgb = false, seamless = false;
  cudaTextureAddressMode address = cudaAddressModeClamp;
  float bias = 0, least = 0, greatest = 100;
};

template <class T>
__device__ float first(T v) {
  if constexpr (sizeof(T) > 4)
    return v.x;
  else
    return v;
}
template <class T>
__global__ void read(cudaTextureObject_t t, Shape shape, float w, float h, float nw, float nh,
                     float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const Read r(i);
  const Spans& s = r.spans;
  const float u = (r.at[0] * 3 - 1) * nw, v = (r.at[1] * 3 - 1) * nh;
  const float2 x{s.x[0] / w, s.x[1] / h}, y{s.y[0] / w, s.y[1] / h};
  const float4 x3{s.x[0] / w, s.x[1] / h, s.x[2] / h, 0}, y3{s.y[0] / w, s.y[1] / h, s.y[2] / h, 0};
  const float3 direction{2 * r.at[0] - 1, 2 * r.at[1] - 1, 2 * r.at[2] - 1};
  switch (shape) {
    case Shape::line:
      out[i] = first(tex1DGrad<T>(t, u, x.x, y.x));
      break;
    case Shape::lines:
      out[i] = first(tex1DLayeredGrad<T>(t, u, int(i & 3), x.x, y.x));
      break;
    case Shape::plane:
      out[i] = first(tex2DGrad<T>(t, u, v, x, y));
      break;
    case Shape::planes:
      out[i] = first(tex2DLayeredGrad<T>(t, u, v, int(i & 3), x, y));
      break;
    case Shape::volume:
      out[i] = first(tex3DGrad<T>(t, u, v, r.at[2], x3, y3));
      break;
    case Shape::cube:
      out[i] = first(texCubemapGrad<T>(t, direction.x, direction.y, direction.z, x3, y3));
      break;
  }
}

struct Texels {
  cudaMipmappedArray_t all;
  cudaTextureObject_t texture;
};
// Random texels. With `flat`, each texel of a level is 256 times the level's number.
Texels texture_of(const Form& f, unsigned anisotropy, bool flat) {
  const bool cube = f.shape == Shape::cube,
             layered = f.shape == Shape::planes || f.shape == Shape::lines;
  const bool line = f.shape == Shape::line || f.shape == Shape::lines;
  const int depth = cube ? 6 : layered ? 4 : f.shape == Shape::volume ? f.width : 0;
  const int bits[4] = {f.bits, f.channels > 1 ? f.bits : 0, f.channels > 2 ? f.bits : 0,
                       f.channels > 2 ? f.bits : 0};
  const cudaChannelFormatDesc format{bits[0], bits[1], bits[2], bits[3],
                                     f.kind == 'f'   ? cudaChannelFormatKindFloat
                                     : f.kind == 'u' ? cudaChannelFormatKindUnsigned
                                                     : cudaChannelFormatKindSigned};
  Texels made;
  REQUIRE(cudaMallocMipmappedArray(&made.all, &format,
                                   make_cudaExtent(f.width, line ? 0 : f.height, depth), f.levels,
                                   cube      ? cudaArrayCubemap
                                   : layered ? cudaArrayLayered
                                             : 0));
  for (int l = 0; l < f.levels; ++l) {
    const auto half = [l](int n) { return std::size_t(std::max(n >> l, 1)); };
    const std::size_t w = half(f.width), h = line ? 1 : half(f.height);
    const std::size_t d = cube || layered ? depth : half(depth);
    const std::size_t bytes = std::size_t(f.bits / 8 * f.channels);
    std::vector<unsigned char> texels(w * h * d * bytes);
    for (std::size_t i = 0; i < texels.size() * 8 / std::size_t(f.bits); ++i) {
      const unsigned any = mixed(unsigned(i) + 1000003u * unsigned(l) + 1);
      const float value = flat ? 256.0f * float(l) : float(int(any >> 8) - (1 << 23)) / 8388608.0f;
      // A half with exponents of 1/8 to 1.
      const unsigned half = (any & 0x83ff) | (12 + (any >> 16 & 3)) << 10;
      const unsigned other = f.kind == 'f' ? half : any;
      std::memcpy(&texels[i * std::size_t(f.bits / 8)],
                  f.bits == 32 && f.kind == 'f' ? (const void*)&value : (const void*)&other,
                  std::size_t(f.bits / 8));
    }
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), w * bytes, w, h);
    REQUIRE(cudaGetMipmappedArrayLevel(&copy.dstArray, made.all, unsigned(l)));
    copy.extent = make_cudaExtent(w, h, d);
    copy.kind = cudaMemcpyHostToDevice;
    REQUIRE(cudaMemcpy3D(&copy));
  }
  cudaResourceDesc resource{};
  if (f.normalized) {
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = made.all;
  } else {
    resource.resType = cudaResourceTypeArray;
    REQUIRE(cudaGetMipmappedArrayLevel(&resource.res.array.array, made.all, 0));
  }
  cudaTextureDesc sampler{};
  for (auto& mode : sampler.addressMode) mode = f.address;
  sampler.filterMode = f.linear ? cudaFilterModeLinear : cudaFilterModePoint;
  sampler.readMode =
      f.kind == 'f' || f.bits == 32 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  sampler.sRGB = f.srgb;
  sampler.normalizedCoords = f.normalized;
  sampler.maxAnisotropy = anisotropy;
  sampler.mipmapFilterMode = f.mip_linear ? cudaFilterModeLinear : cudaFilterModePoint;
  sampler.mipmapLevelBias = f.bias;
  sampler.minMipmapLevelClamp = f.least, sampler.maxMipmapLevelClamp = f.greatest;
  sampler.disableTrilinearOptimization = 1;
  sampler.seamlessCubemap = f.seamless;
  REQUIRE(cudaCreateTextureObject(&made.texture, &resource, &sampler, nullptr));
  return made;
}

void tell(const char* name, unsigned anisotropy, float* device, unsigned count, std::FILE* file) {
  std::vector<float> results(count);
  REQUIRE(cudaGetLastError());
  REQUIRE(cudaMemcpy(results.data(), device, count * sizeof(float), cudaMemcpyDefault));
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto* bytes = reinterpret_cast<const unsigned char*>(results.data());
  for (std::size_t i = 0; i < count * sizeof(float); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  std::printf("%s-aniso%u %016llx:", name, anisotropy, static_cast<unsigned long long>(hash));
  for (unsigned i = 0; i < count; i += count / 8 + 77) std::printf(" %g", results[i]);
  std::printf("\n");
  if (file) std::fwrite(results.data(), sizeof(float), count, file);
}

using Kernel = void (*)(cudaTextureObject_t, float, float*);
// Keeps its three textures for the next call with the same bias.
void ask_levels(const char* name, Kernel kernel, float bias, float* out, std::FILE* file) {
  constexpr unsigned anisotropies[] = {2, 6, 16};
  static std::vector<Texels> textures;
  static float bias_of_textures = -1;
  if (bias != bias_of_textures) {
    for (const Texels& t : textures) REQUIRE(cudaFreeMipmappedArray(t.all));
    textures.clear();
    Form form{name};
    form.width = form.height = 4096, form.levels = 13, form.bias = bias_of_textures = bias;
    for (const unsigned n : anisotropies) textures.push_back(texture_of(form, n, true));
  }
  for (unsigned i = 0; i < 3; ++i) {
    kernel<<<levels_of_a_set / 256, 256>>>(textures[i].texture, 4096, out);
    tell(name, anisotropies[i], out, levels_of_a_set, file);
  }
}

std::vector<Form> forms() {
  std::vector<Form> all;
  const auto add = [&all](const char* name) -> Form& { return all.emplace_back(Form{name}); };
  add("plane");
  add("one-level").levels = 1;
  {
    Form& f = add("point");
    f.linear = false;
  }
  {
    Form& f = add("point-one-level");
    f.linear = false, f.levels = 1;
  }
  {
    Form& f = add("mip-point");
    f.mip_linear = false;
  }
  {
    Form& f = add("point-mip-point");
    f.linear = f.mip_linear = false;
  }
  add("bias").bias = 1.3f;
  add("less-bias").bias = -1.3f;
  add("least").least = 2.3f;
  add("greatest").greatest = 1.7f;
  {
    Form& f = add("mip-point-bias");
    f.mip_linear = false, f.bias = 0.7f;
  }
  {
    Form& f = add("oblong");
    f.width = 48, f.height = 20, f.levels = 5;
  }
  add("wrap").address = cudaAddressModeWrap;
  add("mirror").address = cudaAddressModeMirror;
  add("border").address = cudaAddressModeBorder;
  {
    Form& f = add("unnormalized");
    f.normalized = false, f.levels = 1;
  }
  {
    Form& f = add("unnormalized-point");
    f.normalized = f.linear = false, f.levels = 1;
  }
  {
    Form& f = add("halves");
    f.bits = 16;
  }
  {
    Form& f = add("u8");
    f.kind = 'u', f.bits = 8;
  }
  {
    Form& f = add("s8");
    f.kind = 's', f.bits = 8;
  }
  {
    Form& f = add("u16");
    f.kind = 'u', f.bits = 16;
  }
  {
    Form& f = add("s16");
    f.kind = 's', f.bits = 16;
  }
  {
    Form& f = add("u8-one-level");
    f.kind = 'u', f.bits = 8, f.levels = 1;
  }
  {
    Form& f = add("u8-point");
    f.kind = 'u', f.bits = 8, f.linear = false;
  }
  {
    Form& f = add("srgb");
    f.kind = 'u', f.bits = 8, f.channels = 4, f.srgb = true;
  }
  {
    Form& f = add("srgb-one-level");
    f.kind = 'u', f.bits = 8, f.channels = 4, f.srgb = true, f.levels = 1;
  }
  {
    Form& f = add("line");
    f.shape = Shape::line;
  }
  {
    Form& f = add("line-one-level");
    f.shape = Shape::line, f.levels = 1;
  }
  {
    Form& f = add("lines");
    f.shape = Shape::lines;
  }
  {
    Form& f = add("planes");
    f.shape = Shape::planes;
  }
  {
    Form& f = add("planes-one-level");
    f.shape = Shape::planes, f.levels = 1;
  }
  {
    Form& f = add("volume");
    f.shape = Shape::volume, f.width = f.height = 16, f.levels = 5;
  }
  {
    Form& f = add("cube");
    f.shape = Shape::cube;
  }
  {
    Form& f = add("cube-one-level");
    f.shape = Shape::cube, f.levels = 1;
  }
  {
    Form& f = add("cube-seamless");
    f.shape = Shape::cube, f.seamless = true;
  }
  return all;
}

void ask(const Form& form, unsigned n, float* out, std::FILE* file) {
  const Texels t = texture_of(form, n, false);
  const auto w = static_cast<float>(form.width), h = static_cast<float>(form.height);
  const float nw = form.normalized ? 1 : w, nh = form.normalized ? 1 : h;
  const float sw = form.normalized ? w : 1, sh = form.normalized ? h : 1;
  const auto kernel = form.channels == 4 ? read<float4> : read<float>;
  kernel<<<reads_of_a_form / 128, 128>>>(t.texture, form.shape, sw, sh, nw, nh, out);
  tell(form.name, n, out, reads_of_a_form, file);
  REQUIRE(cudaDestroyTextureObject(t.texture));
  REQUIRE(cudaFreeMipmappedArray(t.all));
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* const file = argc > 1 ? std::fopen(argv[1], "wb") : nullptr;
  float* out;
  REQUIRE(cudaMalloc(&out, levels_of_a_set * sizeof(float)));
#define ASK(name, spans) ask_levels(#name, name, 0, out, file);
  SETS(ASK)
#define ASK_SMALL(name, spans) ask_levels(#name "-bias5", name, 5, out, file);
  ASK_SMALL(any, )
  for (const Form& form : forms()) {
    const bool main_form = form.shape == Shape::plane && form.bias == 0;
    for (const unsigned n : {2u, 4u, 6u, 8u, 16u})
      if (main_form || n != 4) ask(form, n, out, file);
  }
  for (const unsigned n : {1u, 3u, 5u, 7u, 9u, 10u, 11u, 12u, 13u, 14u, 15u, 17u, 100u})
    ask(Form{"plane"}, n, out, file);
  if (file) std::fclose(file);
}
