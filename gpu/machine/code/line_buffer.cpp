// Each thread keeps some of the buffers that it has given back.
#include "gpu/machine/code/line_buffer.hpp"

#include <array>
#include <new>

#include "gpu/host/of_this_thread.hpp"

namespace inflight::machine {
namespace {

constexpr std::size_t largest = 64 << 10;
constexpr std::align_val_t line{64};

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t most = 0;  // reuse would hide a use after the buffer was given back
#else
constexpr std::size_t most = 64;
#endif

struct Kept {
  struct Lines {
    void* at;
    std::size_t bytes;
  };
  std::array<Lines, most + 1> all{};
  std::size_t count = 0;
  // What else the thread keeps may still give buffers back after its End.
  bool has_end = false, ended = false;
};
constinit thread_local Kept kept;

// What a thread keeps mostly gives its buffers back while the thread ends, so the first one may
// come only then.
struct End {
  ~End() {
    while (kept.count != 0) ::operator delete(kept.all[--kept.count].at, line);
    kept.ended = true;
  }
};
// Destructors give buffers back, so the lack of memory is no error.
bool expects_end() noexcept {
  if (!kept.has_end) try {
      host::of_this_thread<End>();
      kept.has_end = true;
    } catch (const std::bad_alloc&) {
    }
  return kept.has_end;
}

}  // namespace

void* take_lines(std::size_t bytes) {
  Kept& k = kept;
  for (std::size_t i = k.count; i-- > 0;) {
    if (k.all[i].bytes != bytes) continue;
    void* const found = k.all[i].at;
    k.all[i] = k.all[--k.count];
    return found;
  }
  return ::operator new(bytes, line);
}

void give_back_lines(void* lines, std::size_t bytes) noexcept {
  Kept& k = kept;
  if (k.ended || bytes > largest || k.count == most || !expects_end())
    return ::operator delete(lines, line);
  k.all[k.count++] = {lines, bytes};
}

}  // namespace inflight::machine
