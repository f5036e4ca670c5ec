// Replaces functions of the C library by ours.
#pragma once
#include <link.h>

#include <string_view>

namespace inflight::loader {

class Replacements {
 public:
  // Construct it when the C library has been mapped, before any of its code runs.
  explicit Replacements(const link_map& c_library);
  // Changes nothing if the library does not export the name, or if its function is too short for a
  // jump.
  template <class Function>
  void replace(std::string_view name, Function* with) const {
    write_jump(name, reinterpret_cast<const void*>(with));
  }

 private:
  void write_jump(std::string_view name, const void* to) const;
  const link_map& library_;
};

// What a replacement returns for a system call's result: 0, or -1 after setting errno.
int as_c_result(long result);

}  // namespace inflight::loader
