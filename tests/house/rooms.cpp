// Reads the table of components (rooms), and checks a tree against it.
#include "tests/house/rooms.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>

namespace inflight::house {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const Room* find(const std::vector<Room>& rooms, std::string_view folder) {
  const auto found = std::find_if(rooms.begin(), rooms.end(),
                                  [&](const Room& each) { return each.folder == folder; });
  return found == rooms.end() ? nullptr : &*found;
}

// The component that a file belongs to: the one with the nearest folder.
const Room* room_of(const std::vector<Room>& rooms, const fs::path& file) {
  for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path())
    if (const Room* room = find(rooms, folder.generic_string())) return room;
  return nullptr;
}

bool is_source(const fs::path& path) {
  static const std::vector<std::string> endings = {".hpp", ".cpp", ".def", ".h", ".cuh", ".cu"};
  return std::find(endings.begin(), endings.end(), path.extension()) != endings.end();
}

struct Include {
  std::string name;
  bool quoted;  // "name", not <name>
};

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex line(R"re((?:^|\n)[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">])re");
  std::vector<Include> result;
  for (std::sregex_iterator each(text.begin(), text.end(), line), end; each != end; ++each)
    result.push_back({(*each)[2], (*each)[1] == "\""});
  return result;
}

// The file that an include names, from the root. None if it belongs to another project.
std::optional<fs::path> target_of(const Include& include) {
  if (include.name.starts_with("inflight/")) return fs::path("include") / include.name;
  if (include.quoted) return fs::path(include.name);
  return std::nullopt;
}

std::string breach_of(const std::vector<Room>& rooms, const fs::path& root, const fs::path& file,
                      const Room& room, const Include& include,
                      const std::vector<std::string>& generated) {
  const auto target = target_of(include);
  if (!target || std::count(generated.begin(), generated.end(), include.name)) return {};
  const std::string at = file.generic_string() + " includes \"" + include.name + "\"";
  if (!fs::exists(root / *target))
    return at + ", which is no file: write includes from the tree's root.";
  const Room* other = room_of(rooms, *target);
  if (!other) return at + ", which is in no room.";
  const bool allowed =
      other == &room || std::count(room.includes.begin(), room.includes.end(), other->folder) != 0;
  return allowed ? std::string()
                 : at + ", but " + room.folder + " may not include " + other->folder + ".";
}

std::vector<fs::path> sources_under(const fs::path& root, const std::string& folder) {
  std::vector<fs::path> result;
  for (const auto& each : fs::recursive_directory_iterator(root / folder))
    if (each.is_regular_file() && is_source(each.path()))
      result.push_back(each.path().lexically_relative(root));
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

tl::expected<std::vector<Room>, std::string> read_rooms(std::string_view table) {
  std::vector<Room> rooms;
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.size(), line.find('#')));
    if (line.find_first_not_of(" \t") == line.npos) continue;
    const auto colon = line.find(':');
    if (colon == line.npos) return tl::unexpected("'" + line + "' is no line 'room: room...'.");
    Room room{line.substr(0, colon), {}};
    if (find(rooms, room.folder)) return tl::unexpected(room.folder + " is there twice.");
    std::istringstream others(line.substr(colon + 1));
    for (std::string other; others >> other;) {
      if (!find(rooms, other))
        return tl::unexpected(room.folder + " includes " + other +
                              ", which does not stand above it.");
      room.includes.push_back(other);
    }
    rooms.push_back(std::move(room));
  }
  return rooms;
}

std::vector<std::string> find_breaches(const std::vector<Room>& rooms, const fs::path& root,
                                       const std::vector<std::string>& folders,
                                       const std::vector<std::string>& generated) {
  std::vector<std::string> breaches;
  for (const std::string& folder : folders) {
    for (const fs::path& file : sources_under(root, folder)) {
      const Room* room = room_of(rooms, file);
      if (!room) {
        breaches.push_back(file.generic_string() + " is in no room.");
        continue;
      }
      for (const Include& include : includes_of(read_file(root / file)))
        if (auto breach = breach_of(rooms, root, file, *room, include, generated); !breach.empty())
          breaches.push_back(std::move(breach));
    }
  }
  return breaches;
}

}  // namespace inflight::house
