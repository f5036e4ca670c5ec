// The driver's functions and the structures that they take, in words that call_arguments.cpp turns
// into arguments.
#pragma once
#include <span>
#include <string_view>

namespace inflight::fuzz {

// Words of an argument or a field:
//   12          this number
//   n5 b5       a number below 5; n is sometimes extreme, b never
//   stream      a handle: live, or stale, of another kind, null or arbitrary (the kinds: Kind)
//   +stream     where the call stores a new handle       -stream   a handle that the call ends
//   stream[]    an array of handles; count and fewer are its length
//   +node[]     room for 16 handles; &cap is their number
//   +node^      where the call stores a pointer to handles of its own
//   *copy2d     a structure, which is freed after the call; *access[] an array of structures
//   &n5         where a word's value is                   o64   64 bytes that the call may write
// and the words of call_arguments.cpp's list `specials`.
struct Call {
  const char* name;  // '!' before it: seldom called
  const char* arguments;
};
struct Layout {
  std::string_view name;
  unsigned bytes;
  const char* fields;  // OFFSET/BYTES:WORD
};
std::span<const Call> driver_calls();
// What makes one live handle of most kinds.
std::span<const Call> driver_beginnings();
std::span<const Layout> driver_layouts();

}  // namespace inflight::fuzz
