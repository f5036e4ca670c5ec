// Arguments of driver calls, from the words of driver_calls.hpp, and the handles that calls gave.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/driver_calls.hpp"
#include "tests/fuzz/host_memory.hpp"

namespace inflight::fuzz {

#define INFLIGHT_FUZZ_KINDS(X) \
  X(ctx)                       \
  X(stream)                    \
  X(event)                     \
  X(module)                    \
  X(func)                      \
  X(library)                   \
  X(kernel)                    \
  X(global)                    \
  X(graph)                     \
  X(node)                      \
  X(exec)                      \
  X(mempool)                   \
  X(array)                     \
  X(mipmap)                    \
  X(texture)                   \
  X(surface)                   \
  X(link)                      \
  X(object)                    \
  X(green)                     \
  X(descriptor)                \
  X(memory)                    \
  X(reserved)                  \
  X(range)                     \
  X(while_handle)              \
  X(if_handle)                 \
  X(device_memory) X(graph_memory) X(pinned) X(registered) X(notification) X(file) X(log)
enum class Kind : std::uint8_t {
#define X(name) name,
  INFLIGHT_FUZZ_KINDS(X)
#undef X
};
#define X(name) +1
inline constexpr std::size_t kinds = 0 INFLIGHT_FUZZ_KINDS(X);
#undef X

// The handles that are live, and those that were. Threads share them.
class Handles {
 public:
  void add(Kind kind, std::uint64_t handle);
  void end(Kind kind, std::uint64_t handle);
  // 0 if there is none.
  std::uint64_t live(Kind kind, Choices& choices) const;
  std::uint64_t stale(Kind kind, Choices& choices) const;

 private:
  static std::uint64_t any(const std::vector<std::uint64_t>& all, Choices& choices);
  mutable std::mutex mutex_;
  std::array<std::vector<std::uint64_t>, kinds> live_, stale_;
};

struct Surroundings {
  HostMemory host;
  Handles handles;
  unsigned hostile_percent = 0;
  bool alone = true;         // one thread calls
  char* waitable = nullptr;  // zeros that are registered: no wait for them blocks
};

// The arguments of one call. What they point to is freed with this object.
class Arguments {
 public:
  Arguments(const Call& call, Surroundings& around, Choices& choices);
  static constexpr std::size_t most = 14;
  const std::array<std::uint64_t, most>& values() const { return values_; }
  std::size_t count() const { return count_; }
  // Keeps the handles that the call made, and forgets those that it ended.
  void succeeded();

 private:
  struct Made {
    Kind kind;
    const std::byte* where;
    enum class As : std::uint8_t { one, array, owned } as;
  };
  std::uint64_t value(std::string_view word);
  std::uint64_t special(std::string_view word);
  std::uint64_t handle(Kind kind);
  std::uint64_t array(std::string_view element, std::string_view length);
  std::uint64_t structure(std::string_view name, std::size_t number);
  void fill(const Layout& layout, std::byte* place);
  std::byte* block(std::size_t bytes);
  std::uint64_t cell(std::uint64_t value);
  std::uint64_t cells(std::initializer_list<std::uint64_t> list);
  std::uint64_t device_address();
  std::uint64_t usable_address();
  std::uint64_t number(std::uint64_t below);
  bool hostile() { return choices_.below(100) < around_.hostile_percent; }

  Surroundings& around_;
  Choices& choices_;
  std::array<std::uint64_t, most> values_{};
  std::size_t count_ = 0;
  std::vector<std::pair<std::byte*, std::size_t>> blocks_;
  std::vector<Made> made_;
  std::vector<std::pair<Kind, std::uint64_t>> ended_, began_;
  std::size_t length_ = 0, planned_ = 0;  // of the last array; of the next, if not 0
  std::uint64_t* cap_ = nullptr;
  unsigned depth_ = 0;

 public:
  ~Arguments();
};

}  // namespace inflight::fuzz
