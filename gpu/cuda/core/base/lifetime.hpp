// Whether the process is ending, or is the child of one that used CUDA.
#pragma once

namespace inflight::cuda {

bool process_ends();
bool process_forked();
void note_end();
void note_fork();

}  // namespace inflight::cuda
