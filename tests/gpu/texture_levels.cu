// Prints a hash of the levels of detail that a GPU computes from gradients, for many gradients of
// lines, planes and volumes. A real GPU's output is the reference for the software GPU's
// gpu/texture/ellipse.cpp.
//
// nvcc -std=c++17 -arch=sm_90 -o texture_levels texture_levels.cu
//
// texture_levels [FILE]: also writes each level in 256ths, as 16-bit integers, to FILE.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void require(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", call, cudaGetErrorName(error));
  std::exit(1);
}
#define REQUIRE(call) require(call, #call)

// Gradients along x and y, in texels.
struct Spans {
  float x[3], y[3];
};

constexpr unsigned count = 1 << 18;  // gradients of a set

__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352d;
  x = (x ^ x >> 15) * 0x846ca68b;
  return x ^ x >> 16;
}
// All 24 bits of the significand, from 4 to 64.
__device__ float random_span(unsigned bits) {
  const float size = (1 + (bits & 0x7fffff) / 8388608.0f) * float(4 << (bits >> 23 & 3));
  return bits >> 31 ? -size : size;
}

// Pairs of significands of ten bits, or random numbers. Each set is a question about one step of
// the computation.
struct Pair {
  float a, b;  // from 8 on, below 16
  float random[6];
  __device__ explicit Pair(unsigned i)
      : a(8.0f * float(512 + (i >> 9 & 511)) / 512), b(8.0f * float(512 + (i & 511)) / 512) {
    unsigned bits[6];
    for (unsigned k = 0; k < 4; ++k) bits[k] = mixed(4 * i + k + 1);
    bits[4] = mixed(bits[0]), bits[5] = mixed(bits[1]);
    for (int k = 0; k < 6; ++k) random[k] = random_span(bits[k]);
  }
};
constexpr float most = 15.984375f;  // ten bits below 16

#define SETS_OF_LINES(X)                 \
  X(sum, ({{p.a}, {p.b}}))               \
  X(sum_of_halves, ({{p.a}, {p.b / 2}})) \
  X(difference, ({{p.a}, {-p.b}}))       \
  X(any_of_a_line, ({{p.random[0]}, {p.random[1]}}))
#define SETS_OF_PLANES(X)                              \
  X(length, ({{p.a, p.b}, {}}))                        \
  X(length_of_halves, ({{p.a, p.b / 2}, {}}))          \
  X(length_of_quarters, ({{p.a, p.b / 4}, {}}))        \
  X(length_of_eighths, ({{p.a, p.b / 8}, {}}))         \
  X(any_length, ({{p.random[0], p.random[1]}, {}}))    \
  X(diagonal, ({{p.a}, {0, p.b}}))                     \
  X(diagonal_of_halves, ({{p.a}, {0, p.b / 2}}))       \
  X(logarithm, ({{p.random[0]}, {}}))                  \
  X(any_diagonal, ({{p.random[0]}, {0, p.random[1]}})) \
  X(any_of_a_plane, ({{p.random[0], p.random[1]}, {p.random[2], p.random[3]}}))
#define SETS_OF_VOLUMES(X)                                                                \
  X(any_length_in_space, ({{p.random[0], p.random[1], p.random[2]}, {}}))                 \
  X(three, ({{most, p.a, p.b}, {}}))                                                      \
  X(three_with_halves, ({{most, p.a, p.b / 2}, {}}))                                      \
  X(three_with_quarters, ({{most, p.a, p.b / 4}, {}}))                                    \
  X(two_halves, ({{8, p.a / 2, p.b / 2}, {}}))                                            \
  X(half_and_eighth, ({{8, p.a / 2, p.b / 8}, {}}))                                       \
  X(any_of_a_volume,                                                                      \
    ({{p.random[0], p.random[1], p.random[2]}, {p.random[3], p.random[4], p.random[5]}})) \
  X(across, ({{most, p.a}, {0, 0, p.b}}))                                                 \
  X(twice, ({{8, p.a, p.b}, {8, p.a, p.b}}))                                              \
  X(nearly_twice, ({{most, p.a, p.b}, {most, p.a, p.b / 2}}))

template <int dimensions>
__device__ float level(cudaTextureObject_t t, float size, const Spans& s);
template <>
__device__ float level<1>(cudaTextureObject_t t, float size, const Spans& s) {
  return tex1DGrad<float>(t, 0, s.x[0] / size, s.y[0] / size);
}
template <>
__device__ float level<2>(cudaTextureObject_t t, float size, const Spans& s) {
  return tex2DGrad<float>(t, 0, 0, {s.x[0] / size, s.x[1] / size}, {s.y[0] / size, s.y[1] / size});
}
template <>
__device__ float level<3>(cudaTextureObject_t t, float size, const Spans& s) {
  return tex3DGrad<float>(t, 0, 0, 0, {s.x[0] / size, s.x[1] / size, s.x[2] / size, 0},
                          {s.y[0] / size, s.y[1] / size, s.y[2] / size, 0});
}

#define UNWRAPPED(...) __VA_ARGS__
#define KERNEL(name, spans)                                                    \
  template <int dimensions>                                                    \
  __global__ void name(cudaTextureObject_t t, float size, std::int16_t* out) { \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                  \
    const Pair p(i);                                                           \
    const Spans s UNWRAPPED spans;                                             \
    out[i] = static_cast<std::int16_t>(level<dimensions>(t, size, s));         \
  }
SETS_OF_LINES(KERNEL)
SETS_OF_PLANES(KERNEL)
SETS_OF_VOLUMES(KERNEL)

// Each texel of a level is 256 times the level's number, so a read gives its level in 256ths.
cudaTextureObject_t texture_of(int dimensions, unsigned size) {
  unsigned levels = 1;
  while (size >> levels) ++levels;
  const auto extent = [dimensions](std::size_t n) {
    return make_cudaExtent(n, dimensions > 1 ? n : 0, dimensions > 2 ? n : 0);
  };
  cudaMipmappedArray_t all;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  REQUIRE(cudaMallocMipmappedArray(&all, &format, extent(size), levels));
  for (unsigned l = 0; l < levels; ++l) {
    const std::size_t n = size >> l, rows = dimensions > 1 ? n : 1, slices = dimensions > 2 ? n : 1;
    std::vector<float> texels(n * rows * slices, 256.0f * float(l));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), n * sizeof(float), n, rows);
    REQUIRE(cudaGetMipmappedArrayLevel(&copy.dstArray, all, l));
    copy.extent = make_cudaExtent(n, rows, slices);
    copy.kind = cudaMemcpyHostToDevice;
    REQUIRE(cudaMemcpy3D(&copy));
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = all;
  cudaTextureDesc sampler{};
  for (auto& mode : sampler.addressMode) mode = cudaAddressModeClamp;
  sampler.normalizedCoords = 1;
  sampler.mipmapFilterMode = cudaFilterModeLinear;
  sampler.maxMipmapLevelClamp = float(levels);
  cudaTextureObject_t texture;
  REQUIRE(cudaCreateTextureObject(&texture, &resource, &sampler, nullptr));
  return texture;
}

using Kernel = void (*)(cudaTextureObject_t, float, std::int16_t*);

void ask(const char* name, Kernel kernel, cudaTextureObject_t texture, unsigned size,
         std::FILE* file) {
  std::int16_t* device;
  REQUIRE(cudaMalloc(&device, count * sizeof(std::int16_t)));
  kernel<<<count / 256, 256>>>(texture, float(size), device);
  std::vector<std::int16_t> levels(count);
  REQUIRE(cudaMemcpy(levels.data(), device, count * sizeof(std::int16_t), cudaMemcpyDefault));
  REQUIRE(cudaFree(device));
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::int16_t each : levels)
    for (const int byte : {each & 0xff, each >> 8 & 0xff}) hash = (hash ^ byte) * 0x100000001b3;
  std::printf("%s %016llx:", name, static_cast<unsigned long long>(hash));
  for (unsigned i = 0; i < count; i += count / 8 + 77) std::printf(" %d", levels[i]);
  std::printf("\n");
  if (file) std::fwrite(levels.data(), sizeof(std::int16_t), count, file);
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* const file = argc > 1 ? std::fopen(argv[1], "wb") : nullptr;
  constexpr unsigned flat = 4096, deep = 256;
  const cudaTextureObject_t line = texture_of(1, flat), plane = texture_of(2, flat),
                            volume = texture_of(3, deep);
#define ASK_LINE(name, spans) ask(#name, name<1>, line, flat, file);
#define ASK_PLANE(name, spans) ask(#name, name<2>, plane, flat, file);
#define ASK_VOLUME(name, spans) ask(#name, name<3>, volume, deep, file);
  SETS_OF_LINES(ASK_LINE)
  SETS_OF_PLANES(ASK_PLANE)
  SETS_OF_VOLUMES(ASK_VOLUME)
  if (file) std::fclose(file);
}
