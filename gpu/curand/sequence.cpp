#include "gpu/curand/sequence.hpp"

#include "gpu/curand/kinds.hpp"

namespace inflight::curand {
namespace {

// The function that makes a kind's sequences, or null.
using Make = std::unique_ptr<Sequence> (*)(const Start&);
Make maker_of(Kind kind) {
  switch (kind) {
    case Kind::xorwow:
    case Kind::philox:
    case Kind::mrg32k3a:
      return make_pseudo;
    case Kind::mtgp32:
      return make_mtgp;
    case Kind::sobol32:
    case Kind::sobol64:
      return make_quasi;
    default:
      return nullptr;
  }
}

}  // namespace

bool supported(Kind kind) { return maker_of(kind) != nullptr; }

std::unique_ptr<Sequence> make_sequence(const Start& start) { return maker_of(start.kind)(start); }

}  // namespace inflight::curand
