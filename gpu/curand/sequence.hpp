// The sequence of a generator: what its calls have not yet used.
#pragma once
#include <cstdint>
#include <memory>

#include "gpu/curand/abi.hpp"
#include "gpu/curand/distribution.hpp"

namespace inflight::curand {

// What decides a sequence.
struct Start {
  Kind kind = Kind::xorwow;
  Ordering ordering = Ordering::by_default;
  std::uint64_t seed = 0, offset = 0;
  std::uint32_t dimensions = 1;
  bool on_host = false;
};

class Sequence {
 public:
  virtual ~Sequence() = default;
  // How many places a call takes. The place of its first result decides which lanes or points it
  // takes. Calls get places in the program's order, and a call that a graph repeats keeps its own.
  virtual std::uint64_t places(const Distribution& distribution, std::size_t count) const = 0;
  // Writes the results of a call.
  virtual void generate(const Distribution& distribution, void* out, std::size_t count,
                        std::uint64_t place) = 0;
};

bool supported(Kind kind);
// The sequence of a supported kind.
std::unique_ptr<Sequence> make_sequence(const Start& start);

}  // namespace inflight::curand
