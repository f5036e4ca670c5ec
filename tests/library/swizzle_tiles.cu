// The swizzle function and the tiles that use it, on the host and in shared memory, compared with
// tables from the chunk rule: the k-th 16 bytes of line n go to place k xor n.
#include <inflight/swizzle.cuh>
#include <string>

#include "tests/kernels/kernel_test.cuh"

namespace {

using inflight::swizzle;
using inflight::swizzled_offset;
using inflight::swizzled_tile;

void verdict(const char* what, bool right) {
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
}

// The places of the chunks in eight lines of 128 bytes.
template <swizzle Mode>
void table(const char* name) {
  std::printf("%s, span %u, period %u\n", name, inflight::swizzle_span(Mode),
              inflight::swizzle_period(Mode));
  for (unsigned line = 0; line < 8; ++line) {
    for (unsigned chunk = 0; chunk < 8; ++chunk)
      std::printf(" %u", swizzled_offset(Mode, line * 128 + chunk * 16) % 128 / 16);
    std::printf("\n");
  }
}

bool is_the_rule(swizzle mode, unsigned offset, unsigned swizzled) {
  const unsigned chunks = mode == swizzle::none ? 1 : inflight::swizzle_span(mode) / 16;
  const unsigned line = offset / 128, chunk = offset / 16 % 8;
  const unsigned place = chunk / chunks * chunks + (chunk % chunks ^ line % chunks);
  return swizzled == line * 128 + place * 16 + offset % 16;
}

__global__ void offsets(swizzle mode, unsigned* out, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) out[i] = swizzled_offset(mode, i);
}

void functions() {
  constexpr unsigned count = 4096;
  bool rule = true, involution = true, same = true;
  for (swizzle mode : {swizzle::none, swizzle::b32, swizzle::b64, swizzle::b128}) {
    Buffer<unsigned> device(count);
    offsets<<<1, 256>>>(mode, device.device, count);
    device.read();
    for (unsigned i = 0; i < count; ++i) {
      const unsigned there = swizzled_offset(mode, i);
      rule &= is_the_rule(mode, i, there);
      involution &= swizzled_offset(mode, there) == i;
      same &= device.host[i] == there;
    }
  }
  verdict("follows the rule", rule);
  verdict("is its own inverse", involution);
  verdict("the same on the device", same);
}

// Writes a tile by row and column, reads its raw bytes, then reads by row and column.
template <class Tile>
__global__ void fill(typename Tile::value_type* raw, typename Tile::value_type* read,
                     unsigned* address) {
  using T = typename Tile::value_type;
  __shared__ Tile tile;
  for (unsigned i = threadIdx.x; i < sizeof(Tile::bytes); i += blockDim.x) tile.bytes[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < Tile::rows * Tile::columns; i += blockDim.x)
    tile(i / Tile::columns, i % Tile::columns) = T(i + 1);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < sizeof(Tile::bytes) / sizeof(T); i += blockDim.x)
    raw[i] = tile.data()[i];
  const Tile& same = tile;
  for (int i = threadIdx.x; i < Tile::rows * Tile::columns; i += blockDim.x)
    read[i] = same(i / Tile::columns, i % Tile::columns);
  *address = unsigned(__cvta_generic_to_shared(same.data()));
}

template <class T, int Rows, int Columns, swizzle Mode>
void tile(const char* name) {
  using Tile = swizzled_tile<T, Rows, Columns, Mode>;
  Buffer<T> raw(sizeof(Tile::bytes) / sizeof(T)), read(Rows * Columns);
  Buffer<unsigned> address(1);
  fill<Tile><<<1, 64>>>(raw.device, read.device, address.device);
  raw.read(), read.read(), address.read();
  std::vector<T> wanted(raw.host.size());
  bool found = address.host[0] % Tile::alignment == 0;
  static Tile host;  // the same on the host
  for (int row = 0; row < Rows; ++row)
    for (int column = 0; column < Columns; ++column) {
      const unsigned plain = row * Tile::pitch + column * sizeof(T);
      unsigned place = 0;
      while (!is_the_rule(Mode, plain, place)) ++place;
      const T value = T(row * Columns + column + 1);
      wanted[place / sizeof(T)] = value;
      host(row, column) = value;
      found &=
          read.host[row * Columns + column] == value && host.data()[place / sizeof(T)] == value;
    }
  std::printf("%s: %zu bytes of memory, %u of a copy, ", name, sizeof(Tile),
              Tile::transaction_bytes);
  verdict("elements", found && raw.host == wanted);
}

// Counts the elements of a tile that are not where swizzled_offset places them.
template <class Tile>
__host__ __device__ constexpr int misplaced() {
  int count = 0;
  for (int row = 0; row < Tile::rows; ++row)
    for (int column = 0; column < Tile::columns; ++column)
      count +=
          Tile::offset(row, column) !=
          swizzled_offset(Tile::mode,
                          row * Tile::pitch + column * unsigned(sizeof(typename Tile::value_type)));
  return count;
}
static_assert(misplaced<swizzled_tile<std::uint16_t, 16, 64, swizzle::b128>>() == 0, "");

template <class... Tiles>
__global__ void count_misplaced(int* count) {
  *count = (misplaced<Tiles>() + ...);
}

struct alignas(16) Sixteen {
  unsigned char bytes[16];
};

// Rows of the span's width, of half of it (or 16 bytes), of three quarters (or 16 bytes).
template <class T, swizzle Mode>
void everywhere(const char* name) {
  constexpr int span = Mode == swizzle::none ? 128 : inflight::swizzle_span(Mode), chunk = 16;
  constexpr int half = span / 2, more = span == 32 ? chunk : span / 4 * 3, size = sizeof(T);
  using Full = swizzled_tile<T, 256, span / size, Mode>;
  using Half = swizzled_tile<T, 37, half / size, Mode>;
  using More = swizzled_tile<T, 9, more / size, Mode>;
  using Least = swizzled_tile<T, 1, chunk / size, Mode>;
  Buffer<int> wrong(1);
  count_misplaced<Full, Half, More, Least><<<1, 1>>>(wrong.device);
  std::printf("%s, rows of %d, %d, %d and 16 bytes: ", name, span, half, more);
  verdict("offsets",
          wrong.read()[0] == 0 &&
              misplaced<Full>() + misplaced<Half>() + misplaced<More>() + misplaced<Least>() == 0);
}

template <class T>
void every_mode(const char* name) {
  const std::string size = name;
  everywhere<T, swizzle::none>((size + " none").c_str());
  everywhere<T, swizzle::b32>((size + " b32").c_str());
  everywhere<T, swizzle::b64>((size + " b64").c_str());
  everywhere<T, swizzle::b128>((size + " b128").c_str());
}

}  // namespace

int main() {
  table<swizzle::b32>("b32");
  table<swizzle::b64>("b64");
  table<swizzle::b128>("b128");
  functions();
  tile<float, 16, 8, swizzle::b32>("float 16x8 b32");
  tile<float, 16, 16, swizzle::b64>("float 16x16 b64");
  tile<float, 32, 32, swizzle::b128>("float 32x32 b128");
  tile<float, 32, 16, swizzle::b128>("float 32x16 b128, half as wide as the swizzle");
  tile<float, 12, 12, swizzle::none>("float 12x12");
  tile<unsigned char, 20, 128, swizzle::b128>("byte 20x128 b128");
  tile<std::uint16_t, 8, 24, swizzle::b64>("16 bits 8x24 b64");
  tile<double, 5, 2, swizzle::b128>("double 5x2 b128");
  every_mode<std::uint8_t>("1 byte");
  every_mode<std::uint16_t>("2 bytes");
  every_mode<float>("4 bytes");
  every_mode<double>("8 bytes");
  every_mode<Sixteen>("16 bytes");
}
