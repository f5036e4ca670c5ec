// Creates islands near an object, and the jumps to them.
#include "gpu/loader/redirect.hpp"

#include <cstring>

#include "gpu/loader/host.hpp"
#include "gpu/loader/jump.hpp"

namespace inflight::loader {
namespace {

constexpr std::uint64_t lowest_address = 1 << 16;  // below it nothing may be mapped
constexpr std::uint64_t reach = 1ull << 30;        // search limit, leaves room for the object
constexpr std::uint64_t stride = 1 << 20;
constexpr std::uint8_t return_code = 0xC3;

std::uint64_t page_down(std::uint64_t address) { return address & ~(page_bytes - 1); }
std::uint64_t page_up(std::uint64_t address) { return page_down(address + page_bytes - 1); }

// The range of addresses of an object, as in its file.
struct Extent {
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  void add(std::uint64_t from, std::uint64_t to) {
    low = std::min(low, from);
    high = std::max(high, to);
  }
};

Extent extent_of(const ElfView& elf) {
  Extent result;
  elf.each_segment([&](const Elf64_Phdr& segment) {
    if (segment.p_type == PT_LOAD) result.add(segment.p_vaddr, segment.p_vaddr + segment.p_memsz);
  });
  return result;
}

template <class F>
void each_text(const ElfView& elf, F f) {
  elf.each_segment([&](const Elf64_Phdr& segment) {
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X)) f(segment);
  });
}

bool in_text(const ElfView& elf, std::uint64_t address, std::uint64_t bytes) {
  bool inside = false;
  each_text(elf, [&](const Elf64_Phdr& segment) {
    const std::uint64_t offset = address - segment.p_vaddr;
    inside |= address >= segment.p_vaddr && offset <= segment.p_filesz &&
              bytes <= segment.p_filesz - offset;
  });
  return inside;
}

// The number of bytes that a jump may overwrite at a function's entry. Looks for the next function
// only if the function's own size is below `wanted`.
std::uint64_t room(const StaticRuntime& runtime, const Symbol& function, std::uint64_t wanted) {
  return function.size >= wanted ? function.size : runtime.room(function);
}

// The size of the islands of a runtime.
struct Need {
  std::uint64_t functions = 0;
  std::uint64_t text = 0;  // bytes of names that are in no table
  std::string_view failure;
};

Need need_of(const MappedObject& object, const StaticRuntime& runtime) {
  Need need;
  runtime.each_public([&](const Symbol& function) {
    ++need.functions;
    if (!public_name(function.name)) need.text += function.name.size() + 1;
    if (!in_text(object.elf, function.address, jump_bytes))
      need.failure = "one of its functions lies outside the program's code";
    if (room(runtime, function, jump_bytes) < jump_bytes)
      need.failure = "one of its functions is too short for a jump";
  });
  return need;
}

// Maps pages below the object, where no heap grows, or above it if there is no room.
std::uint64_t map_near(std::uint64_t low, std::uint64_t high, std::uint64_t bytes) {
  for (std::uint64_t away = 0; away < reach; away += stride) {
    const std::uint64_t taken = bytes + away;
    if (low >= lowest_address + taken && map_pages(low - taken, bytes)) return low - taken;
  }
  for (std::uint64_t away = stride; away < reach; away += stride) {
    if (map_pages(high + away, bytes)) return high + away;
  }
  return 0;
}

Islands* lay_out(std::uint64_t start, std::uint64_t code_bytes, std::uint64_t bytes,
                 std::uint64_t functions, std::uint64_t binder) {
  auto* islands = reinterpret_cast<Islands*>(start + code_bytes);
  islands->start = start;
  islands->bytes = bytes;
  islands->slots = reinterpret_cast<std::uint64_t*>(islands + 1);
  islands->targets = islands->slots + functions;
  islands->names = reinterpret_cast<const char**>(islands->targets + functions);
  static std::uint32_t copies = 0;  // guarded by the lock of the dynamic loader
  islands->copy = ++copies;
  islands->owner = reinterpret_cast<std::uint64_t>(islands);
  islands->binder = binder;
  const Island common = common_part(start, reinterpret_cast<std::uint64_t>(&islands->owner),
                                    reinterpret_cast<std::uint64_t>(&islands->binder));
  std::memcpy(reinterpret_cast<void*>(start), common.data(), common.size());
  return islands;
}

// The same text in the table of names, or a copy that outlives the file.
const char* persistent_name(std::string_view name, char*& text) {
  if (const char* known = public_name(name)) return known;
  char* copy = text;
  std::memcpy(copy, name.data(), name.size());
  copy[name.size()] = 0;
  text += name.size() + 1;
  return copy;
}

void add_island(Islands& islands, std::string_view name, char*& text) {
  const std::uint64_t index = islands.count++, at = island_address(islands, index);
  islands.names[index] = persistent_name(name, text);
  islands.slots[index] = at + unbound_offset;
  const auto place = [](const std::uint64_t& word) {
    return reinterpret_cast<std::uint64_t>(&word);
  };
  const Island code =
      island({at, place(islands.slots[index]), place(islands.targets[index]), place(islands.mark),
              islands.start, static_cast<std::uint32_t>(index), islands.copy});
  std::memcpy(reinterpret_cast<void*>(at), code.data(), code.size());
}

Islands* make_islands(const MappedObject& object, const StaticRuntime& runtime, const Need& need,
                      std::uint64_t binder) {
  const std::uint64_t code_bytes = page_up((need.functions + 1) * island_bytes);
  const std::uint64_t data_bytes =
      sizeof(Islands) + need.functions * (2 * sizeof(std::uint64_t) + sizeof(char*));
  const std::uint64_t bytes = code_bytes + page_up(data_bytes + need.text);
  const Extent extent = extent_of(object.elf);
  const std::uint64_t start =
      map_near(page_down(object.base + extent.low), page_up(object.base + extent.high), bytes);
  if (!start) return nullptr;
  Islands* islands = lay_out(start, code_bytes, bytes, need.functions, binder);
  islands->object = object.identity;
  islands->major = runtime.major();
  char* text = reinterpret_cast<char*>(islands) + data_bytes;
  runtime.each_public([&](const Symbol& function) { add_island(*islands, function.name, text); });
  if (protect_pages(start, code_bytes, Access::read_execute)) return islands;
  unmap_pages(start, bytes);
  return nullptr;
}

bool open_text(const MappedObject& object, Access access) {
  bool opened = true;
  each_text(object.elf, [&](const Elf64_Phdr& segment) {
    const std::uint64_t start = page_down(object.base + segment.p_vaddr);
    const std::uint64_t end = page_up(object.base + segment.p_vaddr + segment.p_memsz);
    const bool writable = segment.p_flags & PF_W;
    opened =
        opened && protect_pages(start, end - start, writable ? Access::read_write_execute : access);
  });
  return opened;
}

template <class Code>
void write(std::uint64_t address, const Code& code) {
  std::memcpy(reinterpret_cast<void*>(address), code.data(), code.size());
}

// f(entry, stepped, jump) for each public function: `stepped` ones have room for `step` in front of
// the jump to their island. Empty: the island is too far away.
template <class F>
void each_jump(const MappedObject& object, const StaticRuntime& runtime, const Islands& islands,
               F f) {
  std::uint64_t index = 0;
  runtime.each_public([&](const Symbol& function) {
    const std::uint64_t entry = object.base + function.address;
    const bool stepped = room(runtime, function, stepped_bytes) >= stepped_bytes &&
                         in_text(object.elf, function.address, stepped_bytes);
    f(entry, stepped, jump(entry + (stepped ? step_to : 0), island_address(islands, index++)));
  });
}

bool reaches_all(const MappedObject& object, const StaticRuntime& runtime, const Islands& islands) {
  bool all = true;
  each_jump(object, runtime, islands,
            [&](std::uint64_t, bool, const auto& code) { all = all && code.has_value(); });
  return all;
}

void write_jumps(const MappedObject& object, const StaticRuntime& runtime, const Islands& islands) {
  each_jump(object, runtime, islands, [&](std::uint64_t entry, bool stepped, const auto& code) {
    if (stepped) write(entry, step);
    write(entry + (stepped ? step_to : 0), *code);
  });
  runtime.each_internal([&](const Symbol& function) {
    if (in_text(object.elf, function.address, 1))
      *reinterpret_cast<std::uint8_t*>(object.base + function.address) = return_code;
  });
}

}  // namespace

Redirected redirect(const MappedObject& object, const StaticRuntime& runtime,
                    std::uint64_t binder) {
  const Need need = need_of(object, runtime);
  if (!need.failure.empty()) return {nullptr, need.failure};
  Islands* islands = make_islands(object, runtime, need, binder);
  if (!islands)
    return {nullptr, "this host has no free address range near it for executable memory"};
  if (!reaches_all(object, runtime, *islands)) {
    release(islands);
    return {nullptr, "it is too large: free memory is too far from some of its functions"};
  }
  if (!open_text(object, Access::read_write_execute)) {
    open_text(object, Access::read_execute);
    release(islands);
    return {nullptr, "this host does not allow program code to be modified"};
  }
  write_jumps(object, runtime, *islands);
  open_text(object, Access::read_execute);
  return {islands, {}};
}

std::uint64_t island_address(const Islands& islands, std::uint64_t index) {
  return islands.start + (index + 1) * island_bytes;
}

void release(Islands* islands) { unmap_pages(islands->start, islands->bytes); }

}  // namespace inflight::loader
