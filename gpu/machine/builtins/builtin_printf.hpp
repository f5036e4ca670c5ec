// printf in kernels: formats and arguments are in the memory of the calling thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

struct Printed {
  std::int32_t arguments = 0;  // what CUDA's printf returns: arguments formatted; -1: no format
  std::string error;           // a sentence if a string could not be read; else empty
};

// Gathers what a warp prints, so that its messages reach the launch's `print` together. Prints what
// it has once that is much, so its size is bounded.
class Messages {
 public:
  // `call`: the op that calls printf.
  Messages(const Warp& w, const Op* call) : warp_(w), call_(call) {}
  ~Messages() { print(); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  std::string text;
  void print_if_much() {
    if (text.size() >= much) print();
  }
  std::uint64_t bytes() const { return printed_ + text.size(); }  // of all messages
  bool stopped() const;  // the launch has ended: the rest is not needed
  // Notifies listeners that a lane's message read `bytes` at a generic address.
  void took(int lane, std::uint64_t address, std::uint64_t bytes) const;

 private:
  static constexpr std::size_t much = 64 << 10;
  void print();
  const Warp& warp_;
  const Op* call_;
  std::uint64_t printed_ = 0;
};

// Adds one thread's message to `out`. `arguments` is the generic address of the values, each
// aligned to its size, as CUDA passes them to vprintf.
Printed format_message(Warp& w, int lane, std::uint64_t format, std::uint64_t arguments,
                       Messages& out);

// Appends the string at a generic address, without the final zero. False if it leaves its
// allocation.
bool read_string(Warp& w, int lane, std::uint64_t address, std::string& out);

}  // namespace inflight::machine
