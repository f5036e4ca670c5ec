// Assigns files to components (rooms), and finds what they use that the table of rooms forbids.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace inflight::house {

struct Room {
  std::string folder;                 // from the tree's root
  std::vector<std::string> includes;  // other rooms
  std::vector<std::string> declares;  // types of any room
};

// Parses lines `room: room... | type...`. '#' begins a comment. An error is a sentence: a malformed
// line, a room that occurs twice, or a room that includes one not listed above it.
tl::expected<std::vector<Room>, std::string> read_rooms(std::string_view table);

// Returns a sentence for each breach in the source files of `folders` under `root`: a file in no
// room; an include not written from the root, one that names no file, and one that the table
// forbids; a declaration of a type (`class C;`) of a room that may not be included; and, at the
// end, each permission that nothing uses. `generated` are includes that the build makes.
std::vector<std::string> find_breaches(const std::vector<Room>& rooms,
                                       const std::filesystem::path& root,
                                       const std::vector<std::string>& folders,
                                       const std::vector<std::string>& generated = {});

}  // namespace inflight::house
