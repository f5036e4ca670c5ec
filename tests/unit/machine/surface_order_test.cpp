// Reductions on surfaces and strong accesses of other host threads are reported in the order in
// which they happen.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "gpu/check/listener.hpp"
#include "gpu/texture/table.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

// Counts loads that are told after the reduction, but read what memory held before it.
class SlowListener : public check::Listener {
 public:
  check::Topic topics() const override { return check::Topic::accesses | check::Topic::addresses; }
  void accessed(const check::Access& e) override {
    if (e.space != check::Space::global) return;
    if (e.kind == check::Access::Kind::reduction) {
      reduced = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } else if (e.kind == check::Access::Kind::load && e.read) {
      ++loads;
      if (reduced && e.read[0] == 0) ++stale;
    }
  }
  std::atomic<bool> reduced{false};
  std::atomic<unsigned> loads{0}, stale{0};
};

class SurfaceOrder : public KernelRunner {};

// Block 0 adds to a texel. Block 1 reads it until it has changed.
TEST_F(SurfaceOrder, NoReadOfTheOldValueIsToldAfterAReduction) {
  const std::uint64_t texels = upload(std::vector<std::uint32_t>(4));
  texture::Surface surface;
  surface.image.geometry = texture::Geometry::line;
  surface.image.format = {texture::Kind::unsigned_integer, 32, 1};
  surface.image.base = texels, surface.image.bytes = 16;
  surface.image.levels = {{.size = {4, 1, 1}, .pitch = 16, .slice = 16}};
  texture::Objects objects;
  const std::uint64_t handle = objects.add(surface);
  SlowListener listener;
  options.listener = &listener;
  options.workers = 2;
  const Program* const program = link(entry(2, R"(
  .reg .b32 %r<4>; .reg .pred %p0; .reg .b64 %d<2>;
  ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, 0;
  setp.eq.u32 %p0, %r1, 0; @%p0 bra ADD;
AGAIN:
  ld.relaxed.gpu.global.u32 %r2, [%d0];
  setp.eq.u32 %p0, %r2, 0; @%p0 bra AGAIN;
  ret;
ADD:
  nanosleep.u32 1000000;
  mov.u32 %r3, 5;
  sured.b.add.1d.u32.trap [%d1, {%r2}], %r3;
  ret;)"));
  ASSERT_TRUE(program);
  Launch launch;
  launch.kernel = program->kernel("k");
  launch.grid = {2, 1, 1};
  launch.block = {1, 1, 1};
  launch.parameters.resize(16);
  std::memcpy(launch.parameters.data(), &texels, 8);
  std::memcpy(launch.parameters.data() + 8, &handle, 8);
  launch.textures = objects.snapshot();
  const Outcome outcome = machine::run(launch, limits, options, [](std::string_view) {});
  ASSERT_TRUE(outcome.ok()) << outcome.report;
  EXPECT_TRUE(listener.reduced);
  EXPECT_NE(listener.loads, 0u);
  EXPECT_EQ(listener.stale, 0u);
}

// A surface of one row of texels of one byte, which ends where memory ends that the kernel may
// change.
class SurfaceReduction : public KernelRunner {
 protected:
  Outcome reduce(const std::string& form, std::uint32_t x) {
    texels_ = upload(std::vector<std::uint8_t>(16, 7));
    texture::Surface surface;
    surface.image.geometry = texture::Geometry::line;
    surface.image.format = {texture::Kind::unsigned_integer, 8, 1};
    surface.image.base = texels_, surface.image.bytes = 13;
    surface.image.levels = {{.size = {13, 1, 1}, .pitch = 13, .slice = 13}};
    texture::Objects objects;
    const std::uint64_t handle = objects.add(surface);
    const Program* const program = link(entry(1, R"(
  .reg .b16 %h<2>; .reg .b32 %r<4>; .reg .b64 %d<3>;
  ld.param.b64 %d0, [p0]; mov.u32 %r1, )" + std::to_string(x) +
                                                     "; mov.u32 %r2, 0; mov.u32 %r3, 0;\n  " +
                                                     form + ";\n  ret;"));
    if (!program) return {FaultKind::refused, "not linked"};
    Launch launch;
    launch.kernel = program->kernel("k");
    launch.parameters.resize(8);
    std::memcpy(launch.parameters.data(), &handle, 8);
    launch.textures = objects.snapshot();
    return machine::run(launch, limits, options, [](std::string_view) {});
  }
  std::vector<std::uint8_t> texels() { return download<std::uint8_t>(texels_, 16); }

 private:
  std::uint64_t texels_ = 0;
};

TEST_F(SurfaceReduction, ChangesOnlyTexelsOfItsSize) {
  const std::vector<std::uint8_t> unchanged(16, 7);
  EXPECT_EQ(reduce("sured.p.min.1d.b32.clamp [%d0, {%r1}], %r2", 12).kind,
            FaultKind::illegal_instruction);
  EXPECT_EQ(texels(), unchanged);
}

TEST_F(SurfaceReduction, HasNoNarrowTypes) {
  for (const char* const form :
       {"sured.b.min.1d.b8.clamp [%d0, {%r1}], %h1", "sured.b.min.1d.b16.clamp [%d0, {%r1}], %h1",
        "sured.b.min.1d.v2.b32.clamp [%d0, {%r1}], {%r2, %r3}",
        "sust.p.1d.b8.clamp [%d0, {%r1}], %h1"}) {
    EXPECT_FALSE(reduce(form, 0).ok()) << form;
    EXPECT_EQ(texels(), std::vector<std::uint8_t>(16, 7)) << form;
  }
}

}  // namespace
}  // namespace inflight::machine
