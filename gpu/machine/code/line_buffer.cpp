// Each thread keeps a few buffers that it has given back.
#include "gpu/machine/code/line_buffer.hpp"

#include <array>
#include <new>

namespace inflight::machine {
namespace {

constexpr std::size_t largest = 64 << 10;
constexpr std::align_val_t line{64};

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t most = 0;  // who uses what has been given back is to be found
#else
constexpr std::size_t most = 16;
#endif

thread_local bool ended = false;  // other ends of this thread may come after that of its buffers

struct Kept {
  struct Lines {
    void* at;
    std::size_t bytes;
  };
  std::array<Lines, most + 1> all;
  std::size_t count = 0;
  ~Kept() {
    while (count != 0) ::operator delete(all[--count].at, line);
    ended = true;
  }
};
thread_local Kept kept;

}  // namespace

void* take_lines(std::size_t bytes) {
  if (!ended)
    for (std::size_t i = kept.count; i-- > 0;)
      if (kept.all[i].bytes == bytes) {
        void* const found = kept.all[i].at;
        kept.all[i] = kept.all[--kept.count];
        return found;
      }
  return ::operator new(bytes, line);
}

void give_back_lines(void* lines, std::size_t bytes) {
  if (ended || bytes > largest || kept.count == most) return ::operator delete(lines, line);
  kept.all[kept.count++] = {lines, bytes};
}

}  // namespace inflight::machine
