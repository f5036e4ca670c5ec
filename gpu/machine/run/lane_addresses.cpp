// Computes the addresses of a warp's lanes, using AVX2 if the host has it. Every observed access,
// every copy and every operation on an mbarrier begins with this.
#include <algorithm>
#include <iterator>

#include "gpu/machine/run/access.hpp"

namespace inflight::machine {
namespace {

// What is added to each lane's register, and the bits of the sum that count.
struct Sum {
  std::uint64_t offset, keep;
};

// Compiled for each instruction set, as vectors of that set.
template <class T>
[[gnu::always_inline]] inline void add(const T* __restrict from, const Sum& sum,
                                       std::uint64_t* __restrict to) {
  for (int l = 0; l < lanes; ++l) to[l] = (from[l] + sum.offset) & sum.keep;
}

template <class T>
using Add = void (*)(const T*, const Sum&, std::uint64_t*);

template <class T>
void add_plain(const T* from, const Sum& sum, std::uint64_t* to) {
  add(from, sum, to);
}

#ifdef __x86_64__
template <class T>
__attribute__((target("avx2"))) void add_avx2(const T* from, const Sum& sum, std::uint64_t* to) {
  add(from, sum, to);
}
template <class T>
const Add<T> add_here = __builtin_cpu_supports("avx2") ? add_avx2<T> : add_plain<T>;
#else
template <class T>
constexpr Add<T> add_here = add_plain<T>;
#endif

}  // namespace

void lane_addresses(const Warp& w, const Op* op, ptx::Space space, std::uint64_t (&out)[lanes]) {
  const bool shared = is_shared(space);
  const Sum sum{static_cast<std::uint64_t>(op->imm), shared ? 0xffffffff : ~0ull};
  if (op->a == no_ref)
    std::fill(std::begin(out), std::end(out),
              ((shared ? w.block->window : 0) + sum.offset) & sum.keep);
  else if (op->flags & Op::address_64)
    add_here<std::uint64_t>(w.at<std::uint64_t>(op->a), sum, out);
  else
    add_here<std::uint32_t>(w.at<std::uint32_t>(op->a), sum, out);
}

}  // namespace inflight::machine
