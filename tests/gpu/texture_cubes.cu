// Prints a hash of what a GPU reads from cubemaps of many sizes, near edges and corners and at
// special values, from volumes of odd sizes, and from sRGB texels of several levels, slices and
// probes. A real GPU's output is the reference for the software GPU's gpu/texture/cube.cpp and
// gpu/texture/filter.cpp.
//
// nvcc -std=c++17 -arch=sm_90 -o texture_cubes texture_cubes.cu
//
// texture_cubes [FILE]: also writes the results as floats to FILE.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

void require(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", call, cudaGetErrorName(error));
  std::exit(1);
}
#define REQUIRE(call) require(call, #call)

unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352d;
  x = (x ^ x >> 15) * 0x846ca68b;
  return x ^ x >> 16;
}
float unit(unsigned bits) { return float(bits >> 8) / 16777216.0f; }
float significand(unsigned bits) { return 1 + float(bits & 0x7fffff) / 8388608.0f; }
float with_sign(float v, unsigned bits) { return bits & 1 ? -v : v; }
float from_bits(unsigned bits) {
  float v;
  std::memcpy(&v, &bits, 4);
  return v;
}

enum class Shape { plane, cube, cubes, volume };
enum class How { grad, level, gather };
enum class Kind { f32, srgb, u8, f16, flat, ids };  // flat: 256 times the level's number
enum class Inputs { spread, special, everywhere, near };

struct Form {
  std::string name;
  unsigned count;
  Shape shape = Shape::cube;
  int size[3] = {64, 64, 1};
  int levels = 7;
  Kind kind = Kind::f32;
  How how = How::grad;
  Inputs inputs = Inputs::spread;
  int anisotropy = 1, codes = 0;
  float bias = 0;
  bool linear = true, mip_linear = true, seamless = false;
  bool faces() const { return shape == Shape::cube || shape == Shape::cubes; }
  bool bytes() const { return kind == Kind::srgb || kind == Kind::u8; }
  int results() const { return how == How::gather || bytes() ? 4 : 1; }
};

// --- Inputs ---

struct Input {
  float at[3], x[3], y[3], level;
};

float special(unsigned bits) {
  static const unsigned values[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000,
                                    0xbf000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
                                    0x80400000, 0x00800000, 0x7e800000, 0x7e7fffff, 0x7f7fffff,
                                    0xff7fffff, 0x3f7fffff, 0x3f800001, 0x01000000, 0x007fffff,
                                    0xbf800001, 0x30000000, 0x3e99999a, 0xbe99999a};
  return from_bits(values[bits % 24]);
}
// A direction: any, or up to six texels from an edge or a corner.
void direction(unsigned i, float size, float (&at)[3]) {
  unsigned h[8];
  for (unsigned k = 0; k < 8; ++k) h[k] = mixed(8 * i + k + 77);
  for (int d = 0; d < 3; ++d) at[d] = 2 * unit(h[d]) - 1;
  const unsigned sort = h[3] & 3, axis = (h[3] >> 4) % 3;
  const unsigned next = (axis + 1 + (h[3] >> 8 & 1)) % 3;
  if (sort == 0) return;
  const auto inside = [size](unsigned bits) { return std::fmax(0.0f, 1 - unit(bits) * 6 / size); };
  at[axis] = with_sign(1, h[3] >> 16);
  at[next] = with_sign(inside(h[4]), h[3] >> 17);
  if (sort > 1) at[3 - axis - next] = with_sign(inside(h[5]), h[3] >> 18);
}
// From 1/16 of a texel to 128 texels.
float random_span(unsigned bits) {
  const float size = std::ldexp(1 + float(bits >> 9 & 0x3fffff) / 4194304.0f, int(bits % 11) - 4);
  return bits >> 31 ? -size : size;
}
Input input_of(const Form& f, unsigned i) {
  Input in{};
  unsigned h[12];
  for (unsigned k = 0; k < 12; ++k) h[k] = mixed(12 * i + k + 5);
  if (f.inputs == Inputs::special) {
    for (int k = 0; k < 3; ++k) {
      in.at[k] = special(h[k] >> 3);
      in.x[k] = h[9] & 1 ? 0 : special(h[3 + k] >> 3);
      in.y[k] = h[9] & 2 ? 0 : special(h[6 + k] >> 3);
    }
    return in;
  }
  if (f.inputs == Inputs::everywhere) {
    const auto scaled = [](unsigned bits, unsigned exponent, unsigned sign) {
      return with_sign(std::ldexp(significand(bits), -int(exponent)), sign);
    };
    for (unsigned k = 0; k < 3; ++k) {
      in.at[k] = scaled(h[k], h[7] >> 2 * k & 3, h[8] >> (k + 8));
      in.x[k] = scaled(h[3 + k], 1 + h[9] % 12, h[8] >> k);
      in.y[k] = scaled(h[10] * (2 * k + 1), 1 + h[11] % 12, h[8] >> (k + 4));
    }
    return in;
  }
  in.level = unit(h[10]) * float(f.levels);
  const float shorter = f.faces() ? 2 : f.inputs == Inputs::near ? 4 : 1;
  for (unsigned k = 0; k < 3; ++k) {
    const float size = float(f.faces() ? f.size[0] : f.size[k]);
    in.at[k] = unit(mixed(3 * i + k + 1000003));
    // Cubemaps divide once: the size is not always a power of two.
    const float divisor = f.faces() ? size * shorter : size, after = f.faces() ? 1 : shorter;
    in.x[k] = random_span(mixed(mixed(6 * i + k))) / divisor / after;
    in.y[k] = random_span(mixed(mixed(6 * i + k + 3))) / divisor / after;
  }
  if (!f.faces()) return in;
  direction(i, float(f.size[0]), in.at);
  for (unsigned k = 0; k < 3; ++k) {
    if (h[9] & 4) in.y[k] = in.x[k] * 0.0625f * unit(h[k]);
    if (h[9] & 8 && std::fabs(in.at[k]) == 1) in.x[k] = in.y[k] = 0;  // stays on the face
  }
  return in;
}

// --- Texels ---

unsigned char code_of(int codes, unsigned bits) {
  const unsigned any = bits & 255, of_any_size = any >> (bits >> 8 & 7);
  switch (codes) {
    case 1:
      return of_any_size;
    case 2:  // mostly dark
      return (bits >> 16) % 20 ? bits & 15 : of_any_size;
    case 3:
      return (bits >> 16) % 8 ? 16 + (bits & 31) : any;
    default:
      return any;
  }
}
int depth_of(const Form& f, int level) {
  return f.shape == Shape::cube     ? 6
         : f.shape == Shape::cubes  ? 12
         : f.shape == Shape::volume ? std::max(f.size[2] >> level, 1)
                                    : 1;
}
std::vector<unsigned char> texels_of(const Form& f, int level) {
  const std::size_t count = std::size_t(std::max(f.size[0] >> level, 1)) *
                            std::size_t(std::max(f.size[1] >> level, 1)) * depth_of(f, level);
  const std::size_t size = f.kind == Kind::f16 ? 2 : 4;
  std::vector<unsigned char> out(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned any = mixed(unsigned(i) + 1000003u * unsigned(level) + 1);
    const float value = f.kind == Kind::flat  ? 256.0f * float(level)
                        : f.kind == Kind::ids ? float(i)
                                              : float(int(any >> 8) - (1 << 23)) / 8388608.0f;
    const unsigned half = (any & 0x83ff) | (12 + (any >> 16 & 3)) << 10;  // from 1/8 to 1
    unsigned char codes[4];
    for (unsigned k = 0; k < 4; ++k) codes[k] = code_of(f.codes, mixed(any + k));
    const void* const from = f.bytes()             ? (const void*)codes
                             : f.kind == Kind::f16 ? (const void*)&half
                                                   : (const void*)&value;
    std::memcpy(&out[i * size], from, size);
  }
  return out;
}

// --- Reads ---

template <class T>
__device__ void put(float* out, T v) {
  if constexpr (sizeof(T) > 4)
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
  else
    out[0] = v;
}
template <class T>
__global__ void read(cudaTextureObject_t t, Shape shape, How how, int results, unsigned count,
                     const Input* inputs, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Input in = inputs[i];
  const float a = in.at[0], b = in.at[1], c = in.at[2];
  const float4 x{in.x[0], in.x[1], in.x[2], 0}, y{in.y[0], in.y[1], in.y[2], 0};
  out += i * unsigned(results);
  if (how == How::gather) {
    asm volatile("tld4.r.cube.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
                 : "=f"(out[0]), "=f"(out[1]), "=f"(out[2]), "=f"(out[3])
                 : "l"(t), "f"(a), "f"(b), "f"(c));
    return;
  }
  const bool grad = how == How::grad;
  switch (shape) {
    case Shape::plane:
      put(out,
          grad ? tex2DGrad<T>(t, a, b, {x.x, x.y}, {y.x, y.y}) : tex2DLod<T>(t, a, b, in.level));
      break;
    case Shape::volume:
      put(out, grad ? tex3DGrad<T>(t, a, b, c, x, y) : tex3DLod<T>(t, a, b, c, in.level));
      break;
    case Shape::cube:
      put(out, grad ? texCubemapGrad<T>(t, a, b, c, x, y) : texCubemapLod<T>(t, a, b, c, in.level));
      break;
    case Shape::cubes:
      put(out, texCubemapLayeredGrad<T>(t, a, b, c, int(i & 1), x, y));
      break;
  }
}

struct Texels {
  cudaMipmappedArray_t all;
  cudaTextureObject_t texture;
};
Texels texture_of(const Form& f) {
  const int bits = f.bytes() ? 8 : f.kind == Kind::f16 ? 16 : 32, more = f.bytes() ? 8 : 0;
  const cudaChannelFormatDesc format{
      bits, more, more, more,
      f.bytes() ? cudaChannelFormatKindUnsigned : cudaChannelFormatKindFloat};
  const auto flags = unsigned((f.faces() ? cudaArrayCubemap : 0) |
                              (f.shape == Shape::cubes ? cudaArrayLayered : 0));
  const auto extent = [&f](int level) {
    const auto half = [&](int d) { return std::size_t(std::max(f.size[d] >> level, 1)); };
    return make_cudaExtent(half(0), half(1), std::size_t(depth_of(f, level)));
  };
  cudaExtent whole = extent(0);
  if (f.shape == Shape::plane) whole.depth = 0;
  Texels made;
  REQUIRE(cudaMallocMipmappedArray(&made.all, &format, whole, unsigned(f.levels), flags));
  for (int level = 0; level < f.levels; ++level) {
    std::vector<unsigned char> texels = texels_of(f, level);
    cudaMemcpy3DParms copy{};
    copy.extent = extent(level);
    const std::size_t row = copy.extent.width * (f.kind == Kind::f16 ? 2 : 4);
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), row, copy.extent.width, copy.extent.height);
    REQUIRE(cudaGetMipmappedArrayLevel(&copy.dstArray, made.all, unsigned(level)));
    copy.kind = cudaMemcpyHostToDevice;
    REQUIRE(cudaMemcpy3D(&copy));
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = made.all;
  cudaTextureDesc sampler{};
  for (auto& mode : sampler.addressMode) mode = cudaAddressModeClamp;
  sampler.filterMode = f.linear ? cudaFilterModeLinear : cudaFilterModePoint;
  sampler.readMode = f.bytes() ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  sampler.sRGB = f.kind == Kind::srgb;
  sampler.normalizedCoords = 1;
  sampler.maxAnisotropy = unsigned(f.anisotropy);
  sampler.mipmapFilterMode = f.mip_linear ? cudaFilterModeLinear : cudaFilterModePoint;
  sampler.mipmapLevelBias = f.bias;
  sampler.maxMipmapLevelClamp = 100;
  sampler.disableTrilinearOptimization = 1;
  sampler.seamlessCubemap = f.seamless;
  REQUIRE(cudaCreateTextureObject(&made.texture, &resource, &sampler, nullptr));
  return made;
}

// --- Forms ---

int levels_of(int size) {
  int levels = 0;
  while (size >> levels) ++levels;
  return levels;
}
struct Forms {
  std::vector<Form> all;
  Form& add(std::string name, unsigned count, Shape shape, int width, int height, int depth) {
    Form f;
    f.name = std::move(name), f.count = count, f.shape = shape;
    f.size[0] = width, f.size[1] = height, f.size[2] = depth;
    all.push_back(std::move(f));
    return all.back();
  }
  Form& cube(std::string name, unsigned count, int size) {
    Form& f = add(name + "-" + std::to_string(size), count, Shape::cube, size, size, 1);
    f.levels = levels_of(size);
    return f;
  }
};

void add_light(Forms& forms) {
  const auto add = [&](const char* name, Shape shape, int size, int levels, int codes) -> Form& {
    const unsigned count = shape == Shape::plane ? 8192 : 4096;
    Form& f = forms.add(name, count, shape, size, size, shape == Shape::volume ? size : 1);
    f.kind = Kind::srgb, f.levels = levels, f.codes = codes;
    f.name += "-codes" + std::to_string(codes);
    return f;
  };
  for (int codes = 0; codes < 4; ++codes) {
    const Inputs inputs = codes & 1 ? Inputs::near : Inputs::spread;
    for (const int n : {1, 2, 8, 16}) {
      Form& f = add("srgb", Shape::plane, 64, 7, codes);
      f.anisotropy = n, f.inputs = inputs;
    }
    add("srgb-level", Shape::plane, 64, 7, codes).how = How::level;
    add("srgb-volume", Shape::volume, 16, 5, codes);
    add("srgb-volume-level", Shape::volume, 16, 5, codes).how = How::level;
    Form& one = add("srgb-one-level", Shape::plane, 64, 1, codes);
    one.anisotropy = 16, one.inputs = inputs;
    if (codes < 3)
      for (const int n : {1, 16}) {
        Form& f = add("srgb-cube", Shape::cube, 32, 6, codes);
        f.anisotropy = n, f.seamless = true;
      }
  }
}
void add_cubes(Forms& forms) {
  for (const int size : {1, 2, 3, 5, 7, 12, 20, 48, 64, 100})
    for (const bool seamless : {false, true})
      for (const bool linear : {false, true}) {
        const std::string how =
            std::string(seamless ? "-seamless" : "") + (linear ? "-linear" : "-point");
        const auto add = [&](const char* name) -> Form& {
          Form& f = forms.cube(name + how, 1024, size);
          f.seamless = seamless, f.linear = linear;
          return f;
        };
        for (const int n : {1, 2, 16}) add("cube").anisotropy = n;
        Form& one = add("cube-one-level");
        one.anisotropy = 6, one.levels = 1;
        add("cube-level").how = How::level;
        if (!linear) continue;
        Form& gathered = add("cube-gather");
        gathered.how = How::gather, gathered.levels = 1;
      }
  for (const int n : {1, 16}) {
    for (const Kind kind : {Kind::u8, Kind::f16}) {
      Form& f = forms.cube(kind == Kind::u8 ? "cube-u8" : "cube-f16", 2048, 20);
      f.kind = kind, f.seamless = true, f.anisotropy = n;
    }
    Form& f = forms.cube("cubes", 2048, 12);
    f.shape = Shape::cubes, f.seamless = true, f.anisotropy = n;
  }
}
void add_levels(Forms& forms) {
  for (const int size : {20, 48, 100, 300})
    for (const int n : {1, 16})
      for (const float bias : {0.0f, 5.0f}) {
        Form& f = forms.cube(bias == 0 ? "levels" : "levels-bias5", 8192, size);
        f.kind = Kind::flat, f.inputs = Inputs::everywhere, f.bias = bias, f.anisotropy = n;
      }
  for (const float bias : {0.0f, 4.0f}) {
    const char* const name = bias == 0 ? "volume-levels" : "volume-levels-bias4";
    Form& f = forms.add(name, 16384, Shape::volume, 20, 12, 48);
    f.kind = Kind::flat, f.levels = 6, f.bias = bias;
  }
  forms.add("volume", 8192, Shape::volume, 20, 12, 48).levels = 6;
}
void add_special(Forms& forms) {
  Form& place = forms.cube("special-place", 16384, 64);
  place.kind = Kind::ids, place.linear = place.mip_linear = false, place.levels = 1;
  place.how = How::level;
  Form& level = forms.cube("special-level", 32768, 1024);
  level.kind = Kind::flat;
  Form& filtered = forms.cube("special-filtered", 32768, 64);
  filtered.seamless = true, filtered.anisotropy = 16;
  for (std::size_t i = forms.all.size() - 3; i < forms.all.size(); ++i)
    forms.all[i].inputs = Inputs::special;
}

void tell(const Form& f, const std::vector<float>& results) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(results.data());
  for (std::size_t i = 0; i < results.size() * 4; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  std::printf("%s-aniso%d %016llx:", f.name.c_str(), f.anisotropy,
              static_cast<unsigned long long>(hash));
  for (std::size_t i = 0; i < results.size(); i += results.size() / 8 + 77)
    std::printf(" %g", results[i]);
  std::printf("\n");
}

void ask(const Form& f, std::FILE* file) {
  std::vector<Input> inputs;
  for (unsigned i = 0; i < f.count; ++i) inputs.push_back(input_of(f, i));
  std::vector<float> results(std::size_t(f.count) * std::size_t(f.results()));
  const Texels t = texture_of(f);
  Input* in;
  float* out;
  REQUIRE(cudaMalloc(&in, inputs.size() * sizeof(Input)));
  REQUIRE(cudaMalloc(&out, results.size() * sizeof(float)));
  REQUIRE(cudaMemcpy(in, inputs.data(), inputs.size() * sizeof(Input), cudaMemcpyDefault));
  (f.bytes() ? read<float4> : read<float>)<<<f.count / 128, 128>>>(t.texture, f.shape, f.how,
                                                                   f.results(), f.count, in, out);
  REQUIRE(cudaGetLastError());
  REQUIRE(cudaMemcpy(results.data(), out, results.size() * sizeof(float), cudaMemcpyDefault));
  tell(f, results);
  if (file) std::fwrite(results.data(), sizeof(float), results.size(), file);
  REQUIRE(cudaFree(in));
  REQUIRE(cudaFree(out));
  REQUIRE(cudaDestroyTextureObject(t.texture));
  REQUIRE(cudaFreeMipmappedArray(t.all));
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* const file = argc > 1 ? std::fopen(argv[1], "wb") : nullptr;
  Forms forms;
  add_light(forms);
  add_cubes(forms);
  add_levels(forms);
  add_special(forms);
  for (const Form& form : forms.all) ask(form, file);
  if (file) std::fclose(file);
}
