// Arrays, textures and surfaces of a case, filled with the case's texels.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

#include "case.hpp"

namespace texture_truth {

struct Failure {
  cudaError_t status;
  std::string what;
};
inline void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw Failure{status, what};
}

inline cudaChannelFormatDesc channels_of(const Format& f) {
  const int b = f.bits, n = f.channels;
  const cudaChannelFormatKind kind = f.kind == 'u'   ? cudaChannelFormatKindUnsigned
                                     : f.kind == 's' ? cudaChannelFormatKindSigned
                                                     : cudaChannelFormatKindFloat;
  return cudaCreateChannelDesc(b, n > 1 ? b : 0, n > 2 ? b : 0, n > 2 ? b : 0, kind);
}

// The memory behind a texture or surface.
class Memory {
 public:
  explicit Memory(const Texture& t, unsigned extra_flags = 0) : texture_(t) {
    const cudaChannelFormatDesc channels = channels_of(t.format);
    if (t.shape == Shape::linear || t.shape == Shape::pitched) {
      make_linear(channels);
    } else if (t.levels > 1) {
      require(cudaMallocMipmappedArray(&mipmapped_, &channels, extent(0, true),
                                       static_cast<unsigned>(t.levels), flags() | extra_flags),
              "cudaMallocMipmappedArray");
      for (int level = 0; level < t.levels; ++level) {
        cudaArray_t one;
        require(cudaGetMipmappedArrayLevel(&one, mipmapped_, static_cast<unsigned>(level)),
                "cudaGetMipmappedArrayLevel");
        fill(one, level);
      }
      resource_.resType = cudaResourceTypeMipmappedArray;
      resource_.res.mipmap.mipmap = mipmapped_;
    } else {
      require(cudaMalloc3DArray(&array_, &channels, extent(0, true), flags() | extra_flags),
              "cudaMalloc3DArray");
      fill(array_, 0);
      resource_.resType = cudaResourceTypeArray;
      resource_.res.array.array = array_;
    }
  }
  ~Memory() {
    if (array_) cudaFreeArray(array_);
    if (mipmapped_) cudaFreeMipmappedArray(mipmapped_);
    if (linear_) cudaFree(linear_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  cudaTextureObject_t texture() const {
    const Texture& t = texture_;
    cudaTextureDesc d = {};
    for (int i = 0; i < 3; ++i)
      d.addressMode[i] = static_cast<cudaTextureAddressMode>(t.address[i]);
    d.filterMode = t.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.readMode = t.as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.sRGB = t.srgb;
    std::copy(t.border, t.border + 4, d.borderColor);
    d.normalizedCoords = t.normalized;
    d.maxAnisotropy = t.anisotropy;
    d.mipmapFilterMode = t.mip_linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.mipmapLevelBias = t.bias;
    d.minMipmapLevelClamp = t.least, d.maxMipmapLevelClamp = t.greatest;
    d.disableTrilinearOptimization = 1;
    d.seamlessCubemap = t.seamless;
    cudaTextureObject_t object = 0;
    if (cudaCreateTextureObject(&object, &resource_, &d, nullptr) != cudaSuccess) return 0;
    return object;
  }
  cudaSurfaceObject_t surface() const {
    cudaSurfaceObject_t object = 0;
    require(cudaCreateSurfaceObject(&object, &resource_), "cudaCreateSurfaceObject");
    return object;
  }
  std::vector<unsigned char> contents() const {
    std::vector<unsigned char> bytes(count(0) * static_cast<std::size_t>(texture_.format.bytes()));
    copy(array_, 0, bytes.data(), cudaMemcpyDeviceToHost);
    return bytes;
  }
  const cudaResourceDesc& resource() const { return resource_; }

 private:
  unsigned flags() const {
    const Shape s = texture_.shape;
    unsigned f = s == Shape::lines || s == Shape::planes ? cudaArrayLayered : 0;
    if (s == Shape::cube) f = cudaArrayCubemap;
    if (s == Shape::cubes) f = cudaArrayCubemap | cudaArrayLayered;
    return f;
  }
  // The extent of a level for cudaMalloc3DArray, where unused dimensions are 0.
  cudaExtent extent(int level, bool sparse) const {
    const Texture& t = texture_;
    const bool flat = t.shape == Shape::line || t.shape == Shape::lines;
    const bool deep = t.shape != Shape::line && t.shape != Shape::plane;
    const auto half = [&](int n) { return static_cast<std::size_t>(std::max(1, n >> level)); };
    const std::size_t none = sparse ? 0 : 1;
    return {half(t.width), flat ? none : half(t.height),
            !deep                      ? none
            : t.shape == Shape::volume ? half(t.depth)
                                       : static_cast<std::size_t>(t.depth)};
  }
  std::size_t count(int level) const {
    const cudaExtent e = extent(level, false);
    return e.width * e.height * e.depth;
  }
  void copy(cudaArray_t array, int level, void* host, cudaMemcpyKind kind) const {
    const cudaExtent e = extent(level, false);
    const cudaPitchedPtr there = make_cudaPitchedPtr(
        host, e.width * static_cast<std::size_t>(texture_.format.bytes()), e.width, e.height);
    cudaMemcpy3DParms p = {};
    p.extent = e, p.kind = kind;
    if (kind == cudaMemcpyHostToDevice) {
      p.srcPtr = there, p.dstArray = array;
    } else {
      p.srcArray = array, p.dstPtr = there;
    }
    require(cudaMemcpy3D(&p), "cudaMemcpy3D");
  }
  void fill(cudaArray_t array, int level) {
    std::vector<unsigned char> bytes = texels_of(texture_, count(level), level);
    copy(array, level, bytes.data(), cudaMemcpyHostToDevice);
  }
  void make_linear(const cudaChannelFormatDesc& channels) {
    const Texture& t = texture_;
    const std::size_t row = static_cast<std::size_t>(t.width * t.format.bytes());
    const std::vector<unsigned char> bytes =
        texels_of(t, static_cast<std::size_t>(t.width * t.height), 0);
    if (t.shape == Shape::linear) {
      require(cudaMalloc(&linear_, row), "cudaMalloc");
      require(cudaMemcpy(linear_, bytes.data(), row, cudaMemcpyHostToDevice), "cudaMemcpy");
      resource_.resType = cudaResourceTypeLinear;
      resource_.res.linear.devPtr = linear_;
      resource_.res.linear.desc = channels;
      resource_.res.linear.sizeInBytes = row;
      return;
    }
    std::size_t pitch = 0;
    const std::size_t rows = static_cast<std::size_t>(t.height);
    require(cudaMallocPitch(&linear_, &pitch, row, rows), "cudaMallocPitch");
    require(cudaMemcpy2D(linear_, pitch, bytes.data(), row, row, rows, cudaMemcpyHostToDevice),
            "cudaMemcpy2D");
    resource_.resType = cudaResourceTypePitch2D;
    resource_.res.pitch2D.devPtr = linear_;
    resource_.res.pitch2D.desc = channels;
    resource_.res.pitch2D.width = static_cast<std::size_t>(t.width);
    resource_.res.pitch2D.height = rows;
    resource_.res.pitch2D.pitchInBytes = pitch;
  }

  Texture texture_;
  cudaArray_t array_ = nullptr;
  cudaMipmappedArray_t mipmapped_ = nullptr;
  void* linear_ = nullptr;
  cudaResourceDesc resource_ = {};
};

}  // namespace texture_truth
