// Device profiles: the table is complete, and cudaDeviceProp agrees with the attributes.
#include "gpu/cuda/core/base/profiles.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

namespace inflight::cuda {
namespace {

const Profile& h200() { return *find_profile("h200"); }

template <class T>
T property(const Profile& profile, std::size_t offset, int ordinal = 0) {
  std::array<std::byte, property_bytes(PropertyLayout::cuda13)> bytes;
  fill_properties(profile, ordinal, bytes.data());
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

TEST(Profiles, AreFoundByName) {
  for (const char* name : {"a100", "h100", "h200", "b200", "t4", "a10", "l4", "b300", "rtx5090"})
    ASSERT_TRUE(find_profile(name)) << name;
  EXPECT_EQ(find_profile("H200"), nullptr);
  EXPECT_EQ(find_profile(""), nullptr);
}

TEST(Profiles, EveryDefinedAttributeHasAValueAndAName) {
  std::set<std::string_view> names;
  for (int number = 1; number < attribute_count; ++number) {
    EXPECT_TRUE(h200().attribute(number)) << number;
    EXPECT_TRUE(names.insert(attribute_name(number)).second) << number;
  }
  EXPECT_FALSE(h200().attribute(0));
  EXPECT_FALSE(h200().attribute(attribute_count));
  EXPECT_FALSE(h200().attribute(-1));
}

TEST(Profiles, TheH200IsThePublicOne) {
  EXPECT_EQ(h200().title, "NVIDIA H200");
  EXPECT_EQ(h200()[Attribute::multiprocessors], 132);
  EXPECT_EQ(h200()[Attribute::l2_bytes], 60 << 20);
  EXPECT_EQ(h200()[Attribute::shared_per_multiprocessor], 228 << 10);
  EXPECT_EQ(h200()[Attribute::shared_per_block_optin], 227 << 10);
  EXPECT_EQ(h200()[Attribute::clock_khz], 1980000);
}

TEST(Profiles, CapabilityIsTheArchitecture) {
  for (const Profile& p : profiles()) {
    int number = p[Attribute::capability_major] * 10 + p[Attribute::capability_minor];
    EXPECT_EQ(number, p.architecture.number) << p.name;
    EXPECT_EQ(p.limits().shared_per_block_optin + p[Attribute::reserved_shared_per_block],
              p.limits().shared_per_multiprocessor)
        << p.name;
  }
}

// Values that differ between machines with the chip, and features that only the chip has.
bool may_differ(int number) {
  static const std::set<int> machine{33, 34, 50, 131, 134, 139, 140};
  static const std::set<int> ability{88,  92,  93,  94,  96,  100, 101, 103, 107, 110,
                                     112, 114, 116, 117, 118, 119, 121, 124, 125, 128,
                                     129, 132, 133, 136, 137, 141, 143, 145, 146, 147};
  return machine.count(number) || ability.count(number);
}

// The output of tests/gpu/device_properties.cu on the chip, one `attribute NUMBER VALUE` per line.
TEST(Profiles, TheH200AnswersAsTheChip) {
  std::ifstream recorded(INFLIGHT_GPU_TESTS "/device_properties.h200.txt");
  ASSERT_TRUE(recorded) << "tests/gpu/device_properties.h200.txt cannot be read";
  int compared = 0;
  for (std::string line; std::getline(recorded, line);) {
    int number = 0, value = 0;
    if (std::sscanf(line.c_str(), "attribute %d %d", &number, &value) != 2) continue;
    if (may_differ(number)) continue;
    EXPECT_EQ(h200().attribute(number).value_or(-1), value) << number << attribute_name(number);
    ++compared;
  }
  EXPECT_GT(compared, 90);
}

// Offsets of fields measured with CUDA 13.0's compiler.
TEST(Properties, FieldsLieWhereProgramsReadThem) {
  EXPECT_EQ(property<std::uint64_t>(h200(), 288), h200().memory);  // totalGlobalMem
  EXPECT_EQ(property<std::uint64_t>(h200(), 552), 512u);           // surfaceAlignment
  EXPECT_EQ(property<int>(h200(), 596), 60 << 20);                 // l2CacheSize
  EXPECT_EQ(property<std::uint64_t>(h200(), 672), 227u << 10);     // sharedMemPerBlockOptin
  EXPECT_EQ(property<std::uint64_t>(h200(), 696), 1024u);          // reservedSharedMemPerBlock
  EXPECT_EQ(property<int>(h200(), 748), 1);                        // clusterLaunch
  EXPECT_EQ(property<int>(*find_profile("a100"), 748), 0);
  for (std::size_t at = 784; at < property_bytes(PropertyLayout::cuda13); at += 4) {
    EXPECT_EQ(property<int>(h200(), at), 0) << at;  // reserved
  }
}

TEST(Properties, DevicesOfOneProfileDiffer) {
  EXPECT_NE(pci_address(h200(), 0), pci_address(h200(), 1));
  using Uuid = std::array<char, 16>;
  EXPECT_NE(property<Uuid>(h200(), 256, 0), property<Uuid>(h200(), 256, 1));
  EXPECT_NE(property<Uuid>(h200(), 256), property<Uuid>(*find_profile("h100"), 256));
}

}  // namespace
}  // namespace inflight::cuda
