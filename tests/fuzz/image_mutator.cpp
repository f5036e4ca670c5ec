// Finds the headers inside an image at any depth, and changes their fields.
#include "tests/fuzz/image_mutator.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "tests/fuzz/choices.hpp"

namespace inflight::fuzz {
namespace {

using Random = std::minstd_rand;
using Bytes = std::vector<std::uint8_t>;

std::size_t below(Random& random, std::size_t n) { return n ? random() % n : 0; }
bool one_in(Random& random, std::size_t n) { return below(random, n) == 0; }

struct Field {
  std::size_t at;
  unsigned width;
};

std::uint64_t read(const Bytes& bytes, Field f) {
  std::uint64_t value = 0;
  if (f.at + f.width <= bytes.size()) std::memcpy(&value, bytes.data() + f.at, f.width);
  return value;
}
void write(Bytes& bytes, Field f, std::uint64_t value) {
  if (f.at + f.width <= bytes.size()) std::memcpy(bytes.data() + f.at, &value, f.width);
}

// The fields of each structure: offset and size.
constexpr Field fatbin_fields[] = {{0, 4}, {4, 2}, {6, 2}, {8, 8}};
constexpr Field entry_fields[] = {{0x00, 2}, {0x04, 4}, {0x08, 8}, {0x10, 4}, {0x18, 2}, {0x1A, 2},
                                  {0x1C, 4}, {0x20, 4}, {0x24, 4}, {0x28, 8}, {0x38, 8}};
constexpr Field elf_fields[] = {{4, 1},  {5, 1},    {18, 2},   {32, 8},   {40, 8},
                                {52, 2}, {0x36, 2}, {0x3A, 2}, {0x3C, 2}, {0x3E, 2}};
constexpr Field section_fields[] = {{0, 4}, {4, 4}, {8, 8}, {24, 8}, {32, 8}, {56, 8}};
constexpr Field linked_fields[] = {{8, 8}, {16, 8}, {24, 8}};
constexpr std::uint32_t fatbin_magic = 0xBA55ED50, elf_magic = 0x464c457f;

// The structures found in an image.
struct Found {
  std::vector<Field> fields;
  struct Entry {
    std::size_t at, bytes, fatbin;
  };
  std::vector<Entry> entries;  // of all fatbins
};

template <std::size_t n>
void add(Found& found, std::size_t at, const Field (&fields)[n]) {
  for (const Field& f : fields) found.fields.push_back({at + f.at, f.width});
}

void add_fatbin(Found& found, const Bytes& bytes, std::size_t at) {
  add(found, at, fatbin_fields);
  std::size_t entry = at + read(bytes, {at + 6, 2});
  const std::uint64_t end = at + 16 + read(bytes, {at + 8, 8});
  for (int most = 16; most-- && entry + 64 <= std::min<std::uint64_t>(end, bytes.size());) {
    add(found, entry, entry_fields);
    const std::uint64_t size = read(bytes, {entry + 4, 4}) + read(bytes, {entry + 8, 8});
    if (size == 0 || size > bytes.size() - entry) break;
    found.entries.push_back({entry, static_cast<std::size_t>(size), at});
    entry += size;
  }
}

void add_elf(Found& found, const Bytes& bytes, std::size_t at) {
  add(found, at, elf_fields);
  const std::uint64_t sections = read(bytes, {at + 40, 8}), count = read(bytes, {at + 60, 2});
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, 64); ++i) {
    if (sections > bytes.size() || at + sections + (i + 1) * 64 > bytes.size()) break;
    add(found, at + sections + i * 64, section_fields);
  }
}

Found look(const Bytes& bytes) {
  Found found;
  for (std::size_t at = 0; at + 16 <= bytes.size(); at += 4) {
    const auto word = static_cast<std::uint32_t>(read(bytes, {at, 4}));
    if (word == fatbin_magic) add_fatbin(found, bytes, at);
    if (word == elf_magic) add_elf(found, bytes, at);
    if (std::memcmp(bytes.data() + at, "IFLINKED", 8) == 0) add(found, at, linked_fields);
  }
  return found;
}

// --- ways to mutate ---

void change_field(Bytes& bytes, const Found& found, Random& random) {
  if (found.fields.empty()) return;
  const Field f = found.fields[below(random, found.fields.size())];
  const Field other = found.fields[below(random, found.fields.size())];
  const std::uint64_t old = read(bytes, f),
                      values[] = {old + 1,
                                  old - 1,
                                  old * 2,
                                  ~old,
                                  old ^ 1ull << below(random, 64),
                                  read(bytes, other),
                                  bytes.size(),
                                  bytes.size() - f.at,
                                  bytes.size() - f.at + 1,
                                  std::uint64_t{0} - f.at,
                                  old + (1ull << 32),
                                  extremes[below(random, std::size(extremes))],
                                  extremes[below(random, std::size(extremes))]};
  write(bytes, f, values[below(random, std::size(values))]);
}

// After a change of its entries, a fatbin mostly gets its new size.
void grow(Bytes& bytes, std::size_t fatbin, std::uint64_t by, Random& random) {
  if (one_in(random, 5)) return;
  const Field size{fatbin + 8, 8};
  write(bytes, size, read(bytes, size) + by);
}

void change_entries(Bytes& bytes, const Found& found, Random& random) {
  if (found.entries.empty()) return;
  const auto from = found.entries[below(random, found.entries.size())],
             to = found.entries[below(random, found.entries.size())];
  const auto begin = bytes.begin();
  const auto at = [&](std::size_t offset) { return begin + static_cast<std::ptrdiff_t>(offset); };
  const Bytes copy(at(from.at), at(from.at + from.bytes));
  if (one_in(random, 3)) {
    bytes.erase(at(from.at), at(from.at + from.bytes));
    return grow(bytes, from.fatbin, std::uint64_t{0} - copy.size(), random);
  }
  bytes.insert(at(to.at), copy.begin(), copy.end());
  grow(bytes, to.fatbin, copy.size(), random);
}

// Replaces the image by the contents of an entry, or by half a payload.
void nest(Bytes& bytes, const Found& found, Random& random) {
  if (found.entries.empty() || bytes.size() > 100000) return;
  const auto e = found.entries[below(random, found.entries.size())];
  const std::size_t header = read(bytes, {e.at + 4, 4});
  if (header < 64 || header >= e.bytes) return;
  const Bytes all = bytes;
  const auto body = bytes.begin() + static_cast<std::ptrdiff_t>(e.at + header);
  bytes.insert(bytes.erase(body, bytes.begin() + static_cast<std::ptrdiff_t>(e.at + e.bytes)),
               all.begin(), all.end());
  write(bytes, {e.at + 8, 8}, all.size());
  write(bytes, {e.at + 0x10, 4}, one_in(random, 2) ? 0 : all.size());
  grow(bytes, e.fatbin, all.size() - (e.bytes - header), random);
}

void change_payload(Bytes& bytes, const Found& found, Random& random) {
  if (found.entries.empty()) return;
  const auto e = found.entries[below(random, found.entries.size())];
  for (int i = 0; i < 3; ++i) {
    const std::size_t at = e.at + below(random, e.bytes);
    if (at < bytes.size()) bytes[at] = static_cast<std::uint8_t>(random());
  }
}

void cut(Bytes& bytes, const Found& found, Random& random) {
  const bool at_a_field = !found.fields.empty() && one_in(random, 2);
  const std::size_t at =
      at_a_field ? found.fields[below(random, found.fields.size())].at + below(random, 9)
                 : below(random, bytes.size() + 1);
  bytes.resize(std::min(at, bytes.size()));
}

constexpr void (*ways[])(Bytes&, const Found&, Random&) = {
    change_field,   change_field, change_field,   change_field, change_field,
    change_entries, nest,         change_payload, cut};

}  // namespace

std::size_t mutate_image(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random(seed % 0x7ffffffe + 1);
  random.discard(3);
  Bytes bytes(data, data + size);
  for (std::size_t n = 1 + below(random, 4); n--;)
    ways[below(random, std::size(ways))](bytes, look(bytes), random);
  const std::size_t kept = std::min(bytes.size(), most);
  std::copy_n(bytes.begin(), kept, data);
  return kept;
}

}  // namespace inflight::fuzz
