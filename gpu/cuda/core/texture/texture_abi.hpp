// The structures of textures and surfaces, laid out as CUDA 13.0 documents them (CUDA runtime API,
// "Data types used by CUDA Runtime").
#pragma once
#include "gpu/cuda/core/base/abi.hpp"

namespace inflight::cuda::abi {

enum ChannelKind { channel_signed, channel_unsigned, channel_float, channel_none };

enum ResourceType { resource_array, resource_mipmapped, resource_linear, resource_pitched };
struct Resource {  // cudaResourceDesc
  int type;
  union {
    void* array;
    void* mipmapped;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  unsigned flags;
};

struct TextureDescription {  // cudaTextureDesc
  int address[3];            // 0 wrap, 1 clamp, 2 mirror, 3 border
  int filter;                // 0 point, 1 linear
  int read;                  // 0 elements, 1 normalized floats
  int srgb;
  float border[4];
  int normalized;
  unsigned anisotropy;
  int mip_filter;
  float bias, least, greatest;
  int no_trilinear_optimisation;
  int seamless;
};

struct ResourceView {  // cudaResourceViewDesc
  int format;
  std::size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
  unsigned reserved[16];
};

enum ArrayFlag : unsigned {
  array_layered = 1,
  array_surface = 2,
  array_cubemap = 4,
  array_gather = 8,
  array_attachment = 0x20,
  array_sparse = 0x40,
  array_deferred = 0x80,
};

}  // namespace inflight::cuda::abi
