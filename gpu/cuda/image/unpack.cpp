// Unpacks with libzstd and liblz4. The size that the container claims is not trusted.
#include "gpu/cuda/image/unpack.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace inflight::cuda {
namespace {

using Unpacked = tl::expected<std::string, std::string>;

tl::unexpected<std::string> damaged(std::string_view packing, std::string_view what) {
  return tl::unexpected(fmt::format("the fatbin is damaged: its {} data {}", packing, what));
}

// An LZ4 block grows at most 255-fold, so a larger size is refused before memory is allocated.
Unpacked unpack_lz4(Bytes stored, std::uint64_t size) {
  if (size > stored.size() * 255 + 64) return damaged("LZ4", "is too short for its size");
  std::string text(size, '\0');
  int made = LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), text.data(),
                                 int(stored.size()), int(size));
  if (made < 0 || std::uint64_t(made) != size) return damaged("LZ4", "cannot be unpacked");
  return text;
}

// Streams, so that memory grows only with the bytes that are unpacked.
Unpacked unpack_zstd(Bytes stored, std::uint64_t size) {
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                    ZSTD_freeDStream);
  std::string text;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{stored.data(), stored.size(), 0};
  std::size_t left = 1;
  while (left != 0) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    std::size_t before = in.pos;
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left)) return damaged("zstd", ZSTD_getErrorName(left));
    if (out.pos == 0 && in.pos == before) return damaged("zstd", "ends early");
    text.append(chunk, 0, out.pos);
    if (text.size() > size) return damaged("zstd", "is larger than its entry says");
  }
  if (text.size() != size) return damaged("zstd", "is smaller than its entry says");
  return text;
}

}  // namespace

Unpacked unpack_bytes(Image::Packing packing, Bytes stored, std::uint64_t size) {
  switch (packing) {
    case Image::Packing::lz4:
      return unpack_lz4(stored, size);
    case Image::Packing::zstd:
      return unpack_zstd(stored, size);
    case Image::Packing::raw:
    case Image::Packing::lines:
      break;
  }
  std::string text(characters(stored));
  if (packing == Image::Packing::lines) std::ranges::replace(text, '\0', '\n');
  return text;
}

}  // namespace inflight::cuda
