// The part of a device's profile that the machine needs.
#pragma once
#include <cstdint>
#include <vector>

namespace inflight::machine {

struct Limits {
  int architecture = 90;  // sm_90
  std::uint32_t multiprocessors = 132;
  std::uint32_t max_threads_per_block = 1024;
  std::uint32_t max_threads_per_multiprocessor = 2048;
  std::uint32_t max_blocks_per_multiprocessor = 32;
  std::uint32_t shared_per_block = 48 << 10;  // without opt-in
  std::uint32_t shared_per_block_optin = 227 << 10;
  std::uint32_t shared_per_multiprocessor = 228 << 10;
  std::uint32_t registers_per_multiprocessor = 65536;
  std::uint32_t clock_khz = 1980000;                            // of %clock
  std::uint32_t max_cluster = 16;                               // blocks
  static constexpr std::uint32_t local_per_thread = 512 << 10;  // on every GPU
  std::vector<std::uint32_t> gpcs;  // multiprocessors of each GPC that holds clusters of 3 and more
  // For a part of a device: the identifiers (%smid) of its multiprocessors, and the number that the
  // whole device has. Empty: it is the whole device.
  std::vector<std::uint32_t> part;
  std::uint32_t part_of = 0;
};

}  // namespace inflight::machine
