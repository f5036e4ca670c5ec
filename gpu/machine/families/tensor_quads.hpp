// What two kinds of mma have of their own: the four products of Volta's m8n8k4, and the metadata of
// sparse forms.
#pragma once
#include <vector>

#include "gpu/machine/instruction/instruction.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Registers of d, a, b and c, one after the other.
bool bind_quads(Lowering& lo, const TensorUse& use, std::vector<Ref>& refs);
void multiply_quads(Warp& w, const TensorUse& use, const Ref* registers);

// For each value of each row of A its column, from the lanes' metadata.
void selected_columns(const tensor::Product& product, const std::uint32_t* metadata, int selector,
                      std::uint8_t* columns);
// How many selectors there are: each names other lanes.
int metadata_choices(const tensor::Product& product);

}  // namespace inflight::machine
