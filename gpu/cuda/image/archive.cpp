// Walks the members of an archive: their headers, sizes and the padding between them.
#include "gpu/cuda/image/archive.hpp"

#include <ar.h>

#include <charconv>

#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::cuda {

bool is_archive(Bytes bytes) { return characters(bytes).starts_with(ARMAG); }

tl::expected<std::vector<Bytes>, std::string> objects_of_archive(Bytes bytes) {
  std::vector<Bytes> objects;
  for (std::size_t at = SARMAG; at + sizeof(ar_hdr) <= bytes.size();) {
    const auto header = field<ar_hdr>(bytes, at);
    std::uint64_t size = 0;
    std::from_chars(header.ar_size, header.ar_size + sizeof header.ar_size, size);
    at += sizeof(ar_hdr);
    const auto member = slice(bytes, at, size);
    if (!member || std::memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0)
      return tl::unexpected<std::string>("the archive is damaged");
    if (content_of(*member) == Content::elf) objects.push_back(*member);
    at += size + size % 2;
  }
  return objects;
}

}  // namespace inflight::cuda
