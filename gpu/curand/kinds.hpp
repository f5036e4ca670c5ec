// The families of sequences that make_sequence() chooses from.
#pragma once
#include "gpu/curand/sequence.hpp"

namespace inflight::curand {

std::unique_ptr<Sequence> make_pseudo(const Start& start);
std::unique_ptr<Sequence> make_mtgp(const Start& start);
std::unique_ptr<Sequence> make_quasi(const Start& start);

}  // namespace inflight::curand
