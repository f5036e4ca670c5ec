// All of the library.
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/copy.cuh>
#include <inflight/groups.cuh>
#include <inflight/memcpy_async.cuh>
#include <inflight/pipeline.cuh>
#include <inflight/pipeline_primitives.cuh>
#include <inflight/thread_scope.cuh>
