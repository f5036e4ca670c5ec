// Functions that the device runtime supplies: a call to an extern .func of one of these names runs
// host code instead.
#pragma once
#include <span>
#include <string_view>

#include "gpu/machine/code.hpp"
#include "gpu/machine/warp.hpp"

namespace inflight::machine {

// One call of a builtin by the active lanes of a warp. Arguments and results lie in the callers'
// local memory, at these byte offsets.
struct BuiltinCall {
  Warp& warp;
  const Op* op;
  std::span<const Transfer> arguments, results;  // caller_offset and size count
  std::uint32_t local_base;
  template <class T>
  T argument(unsigned i, int lane) const;
  template <class T>
  void result(unsigned i, int lane, T value) const;
};

struct Builtin {
  std::string_view name;
  unsigned arguments, results;
  // Returns the next op: op + 1, or what Warp::fault and its like return.
  const Op* (*run)(const BuiltinCall&);
};

const Builtin* find_builtin(std::string_view name);

template <class T>
T BuiltinCall::argument(unsigned i, int lane) const {
  return warp.load_local<T>(lane, local_base + arguments[i].caller_offset);
}
template <class T>
void BuiltinCall::result(unsigned i, int lane, T value) const {
  warp.store_local<T>(lane, local_base + results[i].caller_offset, value);
}

}  // namespace inflight::machine
