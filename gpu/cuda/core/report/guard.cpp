// Converts an exception into a status and a reported sentence.
#include "gpu/cuda/core/report/guard.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <exception>
#include <new>

namespace inflight::cuda {

Status status_of_exception(const char* call) {
  try {
    throw;
  } catch (const ::abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "inflight: %s failed, because this host has no more memory for it; it returns "
                 "\"out of memory\" (2). Free some, or run with less at once.\n",
                 call);
    return Status::out_of_memory;
  } catch (const std::exception& error) {
    std::fprintf(stderr,
                 "inflight: %s ended in an exception: %s. It returns \"unknown error\" (999).\n",
                 call, error.what());
  } catch (...) {
    std::fprintf(stderr,
                 "inflight: %s ended in an exception without a message. It returns \"unknown "
                 "error\" (999).\n",
                 call);
  }
  return Status::unknown;
}

}  // namespace inflight::cuda
