// Two special kinds of mma: the four products of Volta's m8n8k4, and the metadata of sparse forms.
#pragma once
#include <vector>

#include "gpu/machine/instruction/instruction.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Binds the registers of d, a, b and c, in this order. False if refused.
bool bind_quads(Lowering& lo, const TensorUse& use, std::vector<Ref>& refs);
void multiply_quads(Warp& w, const TensorUse& use, const Ref* registers);

// Sets the column of each value of each row of A, from the lanes' metadata.
void selected_columns(const tensor::Product& product, const std::uint32_t* metadata, int selector,
                      std::uint8_t* columns);
// The number of selectors. Each selects other lanes.
int metadata_choices(const tensor::Product& product);

}  // namespace inflight::machine
