// Files that users name for writing. Nothing is lost unnoticed: each failure is an error.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace inflight::host {

// Writes a file beside `path` and then gives it that name, so that a full disk leaves the old file
// as it was. Devices and pipes, files of another user, and those whose folder takes no new files
// are written in place. An error is the reason: "No space left on device".
tl::expected<void, std::string> replace_file(const std::string& path, std::string_view text);

// Writes all bytes, from offset `at` on or, if that is negative, at the file's own position.
// Returns 0 or errno. A limit on file sizes (RLIMIT_FSIZE) gives EFBIG and does not end the
// process.
int write_all(int fd, std::string_view bytes, std::int64_t at = -1);

}  // namespace inflight::host
