// Which instruction set of those that this build has is the best for the host's processor.
#pragma once

namespace inflight::host {

enum class InstructionSet { baseline, avx2, avx512 };

InstructionSet instruction_set();

}  // namespace inflight::host
