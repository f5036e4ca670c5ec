// Launches by <<<>>> that were refused. The statement returns no status, so a program learns of it
// only if it reads the thread's last error.
#pragma once
#include <string_view>

namespace inflight::cuda {

// The calling thread is at a <<<>>> statement, and its next launch is that statement's.
void begin_launch_statement();
// Why the calling thread's launch is refused.
void note_refusal(std::string_view sentence);
// The calling thread's launch has returned.
void end_launch_statement();
// The calling thread has read its last error.
void forget_refusals();
// At the end of the process: reports the refusals that nothing has read.
void report_refusals();

}  // namespace inflight::cuda
