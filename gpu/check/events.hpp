// Everything that a detector or a report can observe of an execution: one plain struct per event.
//
// Events describe what the program did in its own terms (threads, addresses, phases), never how the
// machine does it. Spans and pointers are valid only during the call, a Kernel during its launch.
// Arrays marked "[32]" have one element per lane. Only elements of lanes in the event's mask are
// valid.
#pragma once
#include "gpu/check/events/copies.hpp"
#include "gpu/check/events/execution.hpp"
#include "gpu/check/events/host.hpp"
#include "gpu/check/events/kernel.hpp"
#include "gpu/check/events/memory.hpp"
#include "gpu/check/events/multiplies.hpp"
#include "gpu/check/events/synchronisation.hpp"
#include "gpu/check/events/tensor_memory.hpp"
