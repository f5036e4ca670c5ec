// Files in memory through which processes share pages, and the checks by which a process recognises
// one that another process passed to it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "gpu/host/own_descriptor.hpp"

namespace inflight::host {

// The names' beginnings, which tell other processes what a file is.
inline constexpr std::string_view device_memory_file = "inflight device memory";
inline constexpr std::string_view event_file = "inflight event";
inline constexpr std::string_view physical_memory_file = "inflight memory at ";
inline constexpr std::string_view multicast_file = "inflight multicast";
inline constexpr std::string_view pool_file = "inflight pool at ";

// Makes a file of `bytes` zero bytes. Nobody can change its size any more, so that mapped pages of
// it stay. Owns nothing if the host refuses.
OwnDescriptor make_shared_file(std::string_view name, std::uint64_t bytes);
// True if RLIMIT_FSIZE lets this process write such a file. Otherwise a write raises a signal.
bool may_write(std::uint64_t bytes);

struct SharedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t system = 0, inode = 0;
};
// The facts of a file that make_shared_file() made for a process of this user, and whose name
// begins so. `fd` is open for reading and writing. An error is the rest of a sentence whose subject
// is the file.
tl::expected<SharedFile, std::string> shared_file(int fd, std::string_view name);
// Whether the descriptor's file has a name that begins so, whoever made it.
bool has_shared_name(int fd, std::string_view name);
// Opens such a file once more, with a position and locks of its own. `fd` may be an O_PATH
// descriptor: files of other kinds and other users are refused before they are opened.
tl::expected<OwnDescriptor, std::string> reopen_shared_file(int fd, std::string_view name);

}  // namespace inflight::host
