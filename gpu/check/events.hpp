// Everything that a detector or a report can observe of an execution: one plain struct an event.
//
// Events say what the program did, in its own terms (threads, addresses, phases), never how the
// machine does it. Spans and pointers are valid during the call only; Kernel during its launch.
// Arrays "[32]" have an element a lane; only those of lanes in the event's mask mean anything.
#pragma once
#include "gpu/check/events/copies.hpp"
#include "gpu/check/events/execution.hpp"
#include "gpu/check/events/host.hpp"
#include "gpu/check/events/kernel.hpp"
#include "gpu/check/events/memory.hpp"
#include "gpu/check/events/multiplies.hpp"
#include "gpu/check/events/synchronisation.hpp"
