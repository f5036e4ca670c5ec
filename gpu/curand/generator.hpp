// A cuRAND generator: a program's settings, and the sequence that they begin.
#pragma once
#include <mutex>

#include "gpu/curand/call.hpp"
#include "gpu/curand/sequence.hpp"

namespace inflight::curand {

// A sequence that work in streams goes on with.
struct Shared {
  std::mutex mutex;
  std::unique_ptr<Sequence> sequence;
};

struct Generator {
  Start start;
  void* stream = nullptr;  // cudaStream_t; null: the default stream
  // Null until the next call that needs one: settings have changed.
  std::shared_ptr<Shared> shared;
  std::uint64_t place = 0;                 // that of the next result
  std::shared_ptr<const Poisson> poisson;  // that of the last call
  bool quasi() const { return start.kind >= Kind::quasi_default; }
  bool wide() const { return start.kind == Kind::sobol64 || start.kind == Kind::scrambled_sobol64; }
};

// Creates a generator of this number of a kind (type_error; initialization_failed: no device, or a
// context with an error).
Result create(const char* name, Generator** place, int kind, bool on_host);
// Waits for the generator's stream and removes the generator (not_initialized).
Result destroy(Generator* generator);
// Returns the live generator, or null.
std::shared_ptr<Generator> find(Generator* handle);

// answer() for a call with a generator: body(Generator&), or not_initialized.
template <class Body>
int answer(const char* name, Generator* handle, Body body) {
  return answer(name, [&] {
    const auto generator = find(handle);
    return generator ? body(*generator) : Result::not_initialized;
  });
}

// Begins the sequence if there is none (launch_failure, and the capture is invalid: the stream
// captures, and a GPU would have to prepare memory).
Result begin(const char* name, Generator& generator);

}  // namespace inflight::curand
