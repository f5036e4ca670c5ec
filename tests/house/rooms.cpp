// Reads the table of components (rooms), and checks the includes and declarations of a tree.
#include "tests/house/rooms.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "tests/house/includes.hpp"
#include "tests/house/source.hpp"

namespace inflight::house {
namespace {

namespace fs = std::filesystem;

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

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// The rooms and the types that a room's files use of what the table permits.
using Used = std::map<std::string, std::set<std::string>>;

std::string breach_of(const std::vector<Room>& rooms, const fs::path& root, const fs::path& file,
                      const Room& room, const Include& include,
                      const std::vector<std::string>& generated, Used& used) {
  const auto target = target_of(include);
  if (!target || contains(generated, include.name)) return {};
  const std::string at = file.generic_string() + " includes \"" + include.name + "\"";
  if (!fs::exists(root / *target))
    return at + ", which is no file: write includes from the tree's root.";
  const Room* other = room_of(rooms, *target);
  if (!other) return at + ", which is in no room.";
  if (other == &room) return {};
  used[room.folder].insert(other->folder);
  return contains(room.includes, other->folder)
             ? std::string()
             : at + ", but " + room.folder + " may not include " + other->folder + ".";
}

// The rooms that define each type.
using Definitions = std::map<std::string, std::set<const Room*>>;

// Types that no room defines belong to other projects.
std::string breach_of(const Definitions& definitions, const fs::path& file, const Room& room,
                      const std::string& type, Used& used) {
  const auto found = definitions.find(type);
  if (found == definitions.end() || found->second.contains(&room)) return {};
  for (const Room* const other : found->second) {
    if (!contains(room.includes, other->folder)) continue;
    used[room.folder].insert(other->folder);
    return {};
  }
  used[room.folder].insert(type);
  if (contains(room.declares, type)) return {};
  return file.generic_string() + " declares " + type + " of " + (*found->second.begin())->folder +
         ", which " + room.folder + " may not include.";
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
    Room room{line.substr(0, colon), {}, {}};
    if (find(rooms, room.folder)) return tl::unexpected(room.folder + " is there twice.");
    const auto bar = std::min(line.size(), line.find('|'));
    std::istringstream others(line.substr(colon + 1, bar - colon - 1));
    for (std::string other; others >> other;) {
      if (!find(rooms, other))
        return tl::unexpected(room.folder + " includes " + other +
                              ", which does not stand above it.");
      room.includes.push_back(other);
    }
    std::istringstream types(line.substr(std::min(line.size(), bar + 1)));
    for (std::string type; types >> type;) room.declares.push_back(type);
    rooms.push_back(std::move(room));
  }
  return rooms;
}

std::vector<std::string> find_breaches(const std::vector<Room>& rooms, const fs::path& root,
                                       const std::vector<std::string>& folders,
                                       const std::vector<std::string>& generated) {
  std::vector<std::string> breaches;
  const auto add = [&](std::string breach) {
    if (!breach.empty()) breaches.push_back(std::move(breach));
  };
  struct Declared {
    fs::path file;
    const Room* room;
    std::string type;
  };
  std::vector<Declared> declared;
  Definitions definitions;
  Used used;
  for (const std::string& folder : folders) {
    for (const fs::path& file : sources_under(root, folder)) {
      const Room* const room = room_of(rooms, file);
      if (!room) {
        add(file.generic_string() + " is in no room.");
        continue;
      }
      const std::string text = read_file(root / file);
      for (const Include& include : includes_of(text))
        add(breach_of(rooms, root, file, *room, include, generated, used));
      const Types types = types_of(code_of(text));
      for (const std::string& type : types.defined) definitions[type].insert(room);
      for (const std::string& type : types.declared) declared.push_back({file, room, type});
    }
  }
  for (const auto& [file, room, type] : declared)
    add(breach_of(definitions, file, *room, type, used));
  for (const Room& room : rooms) {
    for (const std::string& other : room.includes)
      if (!used[room.folder].contains(other))
        add(room.folder + " may include " + other + ", but does not.");
    for (const std::string& type : room.declares)
      if (!used[room.folder].contains(type))
        add(room.folder + " may declare " + type + ", but does not.");
  }
  return breaches;
}

}  // namespace inflight::house
