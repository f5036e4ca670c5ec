// The best instruction set that this build contains and the host's processor supports.
#pragma once

namespace inflight::host {

enum class InstructionSet { baseline, avx2, avx512 };

InstructionSet instruction_set();

}  // namespace inflight::host
