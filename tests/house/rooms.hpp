// Which file belongs to which room, and the includes that the table of rooms forbids.
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
};

// Lines `room: room...`; '#' begins a comment. An error is a sentence: a line of another form, a
// room twice, or a room that includes one which does not stand above it.
tl::expected<std::vector<Room>, std::string> read_rooms(std::string_view table);

// A sentence for each breach in the source files of the `folders` under `root`: a file that is in
// no room, an include that is not written from the root, one that names no file, and one that the
// table does not allow. `generated` are includes that the build makes.
std::vector<std::string> find_breaches(const std::vector<Room>& rooms,
                                       const std::filesystem::path& root,
                                       const std::vector<std::string>& folders,
                                       const std::vector<std::string>& generated = {});

}  // namespace inflight::house
