// A library that keeps a fat binary in its data, after other data. Its one file is of
// INFLIGHT_KIND.
#include <cstdint>

struct FatBinary {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t content;
  std::uint16_t kind, file_version;
  std::uint32_t file_header_bytes;
  std::uint64_t file_content;
  char file[8];
};
extern "C" {
std::uint64_t before[3] = {1, 2, 3};
FatBinary fat_binary = {0xBA55ED50, 1, 16, 24, INFLIGHT_KIND, 1, 16, 8, "code"};
}
