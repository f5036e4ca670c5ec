// Faults on pages that this process has temporarily protected: one SIGSEGV handler for all users,
// before the program's own.
#pragma once
#include <signal.h>

namespace inflight::machine {

// Called with the handler's arguments. False: the fault is not for this answer. It must not take
// locks or allocate, since the thread may hold any lock.
using FaultAnswer = bool (*)(siginfo_t* info, void* context);
// Returns false if no handler can be installed. The same answer may be added again.
bool answer_faults(FaultAnswer answer);
// `explanation` is called for faults that are for no answer, before the program's handler or the
// end of the process. It need not return; if it does, its result does not matter.
bool explain_faults(FaultAnswer explanation);
// True if nobody but the default action of SIGSEGV follows, which ends the process.
bool faults_end_process();
// Puts our handler first again, in case the program has installed one since.
void answer_first();
// Does what sigaction(SIGSEGV) does for the program from now on: its handler is called after ours.
// False: ours is not installed, so nothing was done.
bool replace_program_handler(const struct sigaction* next, struct sigaction* before);

}  // namespace inflight::machine
