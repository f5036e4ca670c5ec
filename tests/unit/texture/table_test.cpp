// Handles of textures and surfaces.
#include "gpu/texture/table.hpp"

#include <gtest/gtest.h>

namespace inflight::texture {
namespace {

TEST(Table, FindsWhatAHandleNames) {
  Objects objects;
  Texture t;
  t.image.base = 77;
  const auto texture = objects.add(t), surface = objects.add(Surface{});
  const auto table = objects.snapshot();
  ASSERT_TRUE(table->texture(texture));
  EXPECT_EQ(table->texture(texture)->image.base, 77u);
  EXPECT_TRUE(table->surface(surface));
  EXPECT_FALSE(table->surface(texture));
  EXPECT_FALSE(table->texture(surface));
  for (const std::uint64_t other : {std::uint64_t{0}, texture + 1000, ~std::uint64_t{0}})
    EXPECT_FALSE(table->texture(other));
}

// A destroyed object's handle does not name a later object.
TEST(Table, StaleHandlesAreKnown) {
  Objects objects;
  const auto first = objects.add(Texture{});
  EXPECT_TRUE(objects.remove_texture(first));
  EXPECT_FALSE(objects.remove_texture(first));
  const auto second = objects.add(Texture{});
  EXPECT_NE(first, second);
  EXPECT_FALSE(objects.snapshot()->texture(first));
  EXPECT_TRUE(objects.snapshot()->texture(second));
}

TEST(Table, ASnapshotStaysAsItIs) {
  Objects objects;
  const auto handle = objects.add(Texture{});
  const auto before = objects.snapshot();
  objects.remove_texture(handle);
  EXPECT_TRUE(before->texture(handle));
  EXPECT_FALSE(objects.snapshot()->texture(handle));
}

}  // namespace
}  // namespace inflight::texture
