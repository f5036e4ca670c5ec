// The table of device profiles, and values computed from it.
#include "gpu/cuda/core/base/profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/base/settings.hpp"

namespace inflight::cuda {
namespace {

constexpr std::size_t profile_count = 9;

struct Row {
  int number;
  std::string_view name;
  std::array<int, profile_count> values;
};

constexpr Row rows[] = {
#define INFLIGHT_ATTRIBUTE(number, name, ...) {number, #name, {__VA_ARGS__}},
#include "gpu/cuda/core/base/attributes.def"
#undef INFLIGHT_ATTRIBUTE
};

// Multiprocessors in each GPC, derived from cudaOccupancyMaxActiveClusters on one H200
// (tests/gpu/clusters.cu). Eight more multiprocessors hold clusters of one and two blocks only.
// Individual chips differ.
constexpr std::uint32_t h200_gpcs[] = {18, 18, 16, 16, 16, 16, 16, 8};

// Memory in bytes, as cudaMemGetInfo reports it in `total`.
constexpr Profile table[profile_count] = {
    {"a100", "NVIDIA A100-SXM4-80GB", {80, false, false}, 85'097'971'712, 0},
    {"h100", "NVIDIA H100 80GB HBM3", {90, true, false}, 85'028'765'696, 1},
    {"h200", "NVIDIA H200", {90, true, false}, 150'109'880'320, 2},
    {"b200", "NVIDIA B200", {100, true, false}, 191'514'214'400, 3},
    {"t4", "Tesla T4", {75, false, false}, 15'835'660'288, 4},
    {"a10", "NVIDIA A10", {86, false, false}, 23'836'033'024, 5},
    {"l4", "NVIDIA L4", {89, false, false}, 23'799'726'080, 6},
    {"b300", "NVIDIA B300 SXM6 AC", {103, true, false}, 288'400'343'040, 7},
    {"rtx5090", "NVIDIA GeForce RTX 5090", {120, true, false}, 33'680'392'192, 8},
};

const Row* row_of(int number) {
  auto at = std::ranges::lower_bound(rows, number, {}, &Row::number);
  return at != std::end(rows) && at->number == number ? at : nullptr;
}

// The integer fields of cudaDeviceProp in their order (CUDA Runtime API, "cudaDeviceProp"). `wide`
// fields are size_t. Each field is aligned to its size.
enum Presence { always, until_12, since_12, since_13 };
struct PropertyField {
  bool wide;
  int attribute;
  Presence presence = always;
};
constexpr bool has_field(PropertyLayout layout, Presence presence) {
  switch (presence) {
    case until_12:
      return layout <= PropertyLayout::cuda12;
    case since_12:
      return layout >= PropertyLayout::cuda12;
    case since_13:
      return layout >= PropertyLayout::cuda13;
    default:
      return true;
  }
}
constexpr int total_memory = 0;  // stands for Profile::memory
constexpr PropertyField property_fields[] = {
    {true, total_memory},
    {true, 8},
    {false, 12},
    {false, 10},
    {true, 11},
    {false, 1},
    // maxThreadsDim, maxGridSize
    {false, 2},
    {false, 3},
    {false, 4},
    {false, 5},
    {false, 6},
    {false, 7},
    {false, 13, until_12},
    {true, 9},
    {false, 75},
    {false, 76},
    {true, 14},
    {true, 51},
    {false, 15, until_12},
    {false, 16},
    {false, 17, until_12},
    {false, 18},
    {false, 19},
    {false, 20, until_12},
    // textures
    {false, 21},
    {false, 77},
    {false, 69, until_12},
    {false, 22},
    {false, 23},
    {false, 73},
    {false, 74},
    {false, 70},
    {false, 71},
    {false, 72},
    {false, 45},
    {false, 46},
    {false, 24},
    {false, 25},
    {false, 26},
    {false, 47},
    {false, 48},
    {false, 49},
    {false, 52},
    {false, 42},
    {false, 43},
    {false, 27},
    {false, 28},
    {false, 29},
    {false, 53},
    {false, 54},
    // surfaces
    {false, 55},
    {false, 56},
    {false, 57},
    {false, 58},
    {false, 59},
    {false, 60},
    {false, 61},
    {false, 62},
    {false, 63},
    {false, 64},
    {false, 65},
    {false, 66},
    {false, 67},
    {false, 68},
    {true, 30},
    // concurrentKernels to memoryBusWidth
    {false, 31},
    {false, 32},
    {false, 33},
    {false, 34},
    {false, 50},
    {false, 35},
    {false, 40},
    {false, 41},
    {false, 36, until_12},
    {false, 37},
    // l2CacheSize to regsPerMultiprocessor
    {false, 38},
    {false, 108},
    {false, 39},
    {false, 78},
    {false, 79},
    {false, 80},
    {true, 81},
    {false, 82},
    // managedMemory to sharedMemPerBlockOptin
    {false, 83},
    {false, 84},
    {false, 85},
    {false, 86},
    {false, 87, until_12},
    {false, 88},
    {false, 89},
    {false, 90},
    {false, 91},
    {false, 95},
    {false, 96, until_12},
    {true, 97},
    // pageableMemoryAccessUsesHostPageTables to reservedSharedMemPerBlock
    {false, 100},
    {false, 101},
    {false, 106},
    {false, 109},
    {true, 111},
    // hostRegisterSupported to unifiedFunctionPointers
    {false, 99, since_12},
    {false, 112, since_12},
    {false, 113, since_12},
    {false, 114, since_12},
    {false, 115, since_12},
    {false, 116, since_12},
    {false, 117, since_12},
    {false, 118, since_12},
    {false, 119, since_12},
    {false, 121, since_12},
    {false, 125, since_12},
    {false, 120, since_12},
    {false, 129, since_12},
    // deviceNumaConfig to the end
    {false, 130, since_13},
    {false, 131, since_13},
    {false, 133, since_13},
    {false, 134, since_13},
    {false, 139, since_13},
    {false, 140, since_13},
    {false, 143, since_13}};
constexpr std::size_t title_at = 0, title_bytes = 256, uuid_at = 256, first_field_at = 288;

std::uint64_t property(const Profile& profile, int ordinal, int attribute) {
  if (attribute == total_memory) return profile.memory;
  return std::uint64_t(std::int64_t(profile.attribute(attribute, ordinal).value_or(0)));
}

}  // namespace

std::optional<int> Profile::attribute(int number, int ordinal) const {
  const Row* row = row_of(number);
  if (!row) return std::nullopt;
  const int value = row->values[column];
  // All devices of the machine reach each other, as through an NVSwitch, which cards have not.
  constexpr int with_multimem = 90, first_card = 120;
  if (number == int(Attribute::multicast) && architecture.number >= with_multimem)
    return architecture.number < first_card && settings().devices > 1;
  return number == int(Attribute::pci_bus) ? value + ordinal : value;
}

machine::Limits Profile::limits() const {
  auto value = [this](Attribute a) { return std::uint32_t((*this)[a]); };
  machine::Limits limits;
  limits.architecture = architecture.number;
  limits.multiprocessors = value(Attribute::multiprocessors);
  limits.max_threads_per_block = value(Attribute::max_threads_per_block);
  limits.max_threads_per_multiprocessor = value(Attribute::threads_per_multiprocessor);
  limits.max_blocks_per_multiprocessor = value(Attribute::blocks_per_multiprocessor);
  limits.shared_per_block = value(Attribute::shared_per_block);
  limits.shared_per_block_optin = value(Attribute::shared_per_block_optin);
  limits.shared_per_multiprocessor = value(Attribute::shared_per_multiprocessor);
  limits.registers_per_multiprocessor = value(Attribute::registers_per_multiprocessor);
  constexpr int first_card_with_clusters = 120;  // they have no larger ones than the portable 8
  limits.max_cluster = architecture.number >= first_card_with_clusters ? 8
                       : architecture.number >= first_with_clusters    ? 16
                                                                       : 1;
  limits.clock_khz = value(Attribute::clock_khz);
  if (name == "h200") limits.gpcs.assign(std::begin(h200_gpcs), std::end(h200_gpcs));
  return limits;
}

std::span<const Profile> profiles() { return table; }

const Profile* find_profile(std::string_view name) {
  auto at = std::ranges::find(table, name, &Profile::name);
  return at == std::end(table) ? nullptr : at;
}

std::string_view attribute_name(int number) {
  const Row* row = row_of(number);
  return row ? row->name : std::string_view{};
}

void fill_uuid(const Profile& profile, int index, void* uuid) {
  // The first few digits distinguish the devices, as on a GPU.
  std::string text = fmt::format("{:02}inflight {:<5}", index, profile.name);
  std::memcpy(uuid, text.data(), 16);
}

std::string uuid_text(const Profile& profile, int index) {
  std::array<unsigned char, 16> uuid;
  fill_uuid(profile, index, uuid.data());
  std::string text = "GPU";
  for (unsigned i = 0; i < uuid.size(); ++i) {
    const bool group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", group ? "-" : "", uuid[i]);
  }
  return text;
}

std::string pci_address(const Profile& profile, int ordinal) {
  auto value = [&](Attribute a) { return *profile.attribute(int(a), ordinal); };
  return fmt::format("{:04X}:{:02X}:{:02X}.0", value(Attribute::pci_domain),
                     value(Attribute::pci_bus), value(Attribute::pci_device));
}

void fill_properties(const Profile& profile, int index, void* properties, PropertyLayout layout) {
  auto* const place = static_cast<std::byte*>(properties);
  std::memset(place, 0, property_bytes(layout));
  profile.title.copy(reinterpret_cast<char*>(place + title_at), title_bytes - 1);
  fill_uuid(profile, index, place + uuid_at);
  std::size_t at = first_field_at;
  for (const PropertyField& f : property_fields) {
    if (!has_field(layout, f.presence)) continue;
    const std::size_t each = f.wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
    at = round_up(at, each);
    const std::uint64_t value = property(profile, index, f.attribute);
    std::memcpy(place + at, &value, each);
    at += each;
  }
}

}  // namespace inflight::cuda
