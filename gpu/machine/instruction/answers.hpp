// Whether a thread takes another way where a wait, which may give up, tells it to wait on.
#pragma once
#include <cstdint>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Does what follows `instruction`, which tests whether something is complete, depend on its answer?
// Not where nobody reads it, nor where a thread that was told no comes without another wait to
// where one goes that was told yes. In doubt it does.
bool heeds_answer(const Function& function, std::uint32_t instruction);

}  // namespace inflight::machine
