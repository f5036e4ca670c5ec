// Functions of the device runtime: a call to an extern .func of one of these names runs host code
// instead.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// One call of a builtin by the active lanes of a warp. Arguments and results are in the caller's
// local memory, at these byte offsets.
struct BuiltinCall {
  Warp& warp;
  const Op* op;
  std::span<const LocalRange> arguments, results;
  std::uint32_t local_base;
  template <class T>
  T argument(unsigned i, int lane) const;
  template <class T>
  void result(unsigned i, int lane, T value) const;
};

struct Builtin {
  static constexpr unsigned most_arguments = 8;
  std::string_view name;
  std::array<std::uint8_t, most_arguments> arguments;  // bytes of each; zeros: it has fewer
  std::uint8_t result;                                 // bytes; 0: none
  // Returns the next op: op + 1, or what Warp::fault and its like return.
  const Op* (*run)(const BuiltinCall&);
};

const Builtin* find_builtin(std::string_view name);

// The op that calls a builtin: Code::calls[Op::extra].
const Op* run_builtin(Warp& w, const Op* op);

// Does the call match the builtin in number and sizes of arguments and results?
bool fits(const Builtin&, const CallSite&);

template <class T>
T BuiltinCall::argument(unsigned i, int lane) const {
  return warp.load_local<T>(lane, local_base + arguments[i].offset);
}
template <class T>
void BuiltinCall::result(unsigned i, int lane, T value) const {
  warp.store_local<T>(lane, local_base + results[i].offset, value);
}

}  // namespace inflight::machine
