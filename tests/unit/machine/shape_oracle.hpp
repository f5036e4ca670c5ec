// Compares what an analysis says of a kernel's registers with their values while it runs.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/config/options.hpp"
#include "gpu/machine/link/program.hpp"
#include "gpu/machine/run/warp.hpp"
#include "gpu/machine/shapes/regions.hpp"
#include "gpu/machine/shapes/shapes.hpp"

namespace inflight::machine {

// While it lives, each op of the kernel is watched. Launches must have one worker and no listener.
class ShapeOracle {
 public:
  // `rows`: of the blocks that are launched meanwhile.
  ShapeOracle(const Program& program, std::string_view kernel, BlockRows rows);
  ~ShapeOracle();
  ShapeOracle(const ShapeOracle&) = delete;
  ShapeOracle& operator=(const ShapeOracle&) = delete;

  // The first wrong claim in words; empty if there was none.
  const std::string& wrong() const { return wrong_; }
  // Comparisons of a register with a shape, those of them that were more than `lanes`, and how
  // often a warp was left alone because one of the conditions of Shapes no longer held.
  std::uint64_t compared = 0, claims = 0, released = 0;
  const Shapes& shapes() const { return shapes_; }

 private:
  static const Op* watch(Warp& w, const Op* op);
  const Op* run(Warp& w, const Op* op);
  bool holds(Warp& w, const Op* op);
  void check_together(const Warp& w, const Op* op);
  void check_uses(const Warp& w, const Op* op, std::span<const RegisterUse> uses);
  void check(const Warp& w, const Op* op, std::uint32_t reg, const Shape& shape);
  bool wraps(const Warp& w, const Op* op) const;
  void fail(const Warp& w, const Op* op, const std::string& what);
  bool is_last(const Op* op) const;
  std::uint64_t value(const Warp& w, std::uint32_t reg, int lane) const;

  const Code& code_;
  Shapes shapes_;
  Regions regions_;
  std::vector<bool> only_ends_;    // by op
  std::vector<Handler> handlers_;  // by op
  std::vector<const Warp*> left_alone_;
  std::string wrong_;
};

// Watches the kernel of a launch that is about to run. Null if that is not possible: it has a
// listener or several workers, counts turns, is watched already, or cannot run.
std::unique_ptr<ShapeOracle> watch_shapes(const Launch& launch, const Options& options);

}  // namespace inflight::machine
