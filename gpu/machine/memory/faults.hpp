// Faults of pages that this process has closed for a while: one handler of SIGSEGV for all who do
// so, in front of the program's own.
#pragma once
#include <signal.h>

namespace inflight::machine {

// Is called with what the handler gets; false: the fault is none of its business. It may take no
// lock and no memory, since the thread may hold any.
using FaultAnswer = bool (*)(siginfo_t* info, void* context);
// False if no handler can be installed. The same answer may be added again.
bool answer_faults(FaultAnswer answer);
// The program may have installed a handler since: ours is put in front of it again.
void answer_first();
// What sigaction(SIGSEGV) does for the program from now on: its handler is called behind ours.
// False: ours is not installed, so nothing was done.
bool replace_program_handler(const struct sigaction* next, struct sigaction* before);

}  // namespace inflight::machine
