// Shared by the programs about tensor memory: wrappers of tcgen05, and layouts of matrices in
// shared memory, written for the host from the canonical layouts of the PTX ISA.
#pragma once
#include <cstdint>

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
__device__ inline void init(std::uint64_t* bar, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count));
}
__device__ inline void wait(std::uint64_t* bar, unsigned parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra "
      "again;\n}" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
}
__device__ inline void alloc(std::uint32_t* to, std::uint32_t columns) {
  asm volatile(
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(to)),
      "r"(columns)
      : "memory");
}
__device__ inline void dealloc(std::uint32_t at, std::uint32_t columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(at), "r"(columns));
}
__device__ inline void commit(std::uint64_t* bar) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                   shared_address(bar))
               : "memory");
}
__device__ inline void store_column(std::uint32_t at, std::uint32_t word) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(at), "r"(word) : "memory");
}
__device__ inline std::uint32_t load_column(std::uint32_t at) {
  std::uint32_t word;
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];"
               : "=r"(word)
               : "r"(at)
               : "memory");
  return word;
}
__device__ inline void wait_loads() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
__device__ inline void wait_stores() {
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}
__device__ inline void fence_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ inline void fence_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// The layout of an operand with `lines` rows of A (columns of B) in shared memory, `bytes` bytes
// along k each, or the same transposed.
struct Layout {
  int swizzle;                // bytes: 0, 32, 64, 128; 1: 128 with atoms of 32
  bool mn;                    // MN-major
  int lines, depth, element;  // rows; elements along k; bytes of an element

  int span() const { return swizzle == 0 ? 16 : swizzle == 1 ? 128 : swizzle; }
  int k_lines() const { return swizzle == 1 ? 4 : 8; }  // of an atom that is MN-major
  // Steps between atoms, in bytes.
  int along_lines() const { return mn ? depth * span() : 8 * span(); }
  int along_k() const { return mn ? k_lines() * span() : lines * span(); }
  int bytes() const {  // whole atoms
    const int along = (mn ? lines : depth) * element, across = mn ? depth : lines;
    return (along + span() - 1) / span() * span() * across;
  }
  int swizzled(int at) const {
    if (swizzle == 0) return at;
    return swizzle == 1 ? at ^ (at >> 2 & 0x60) : at ^ (at >> 3 & (span() - 16));
  }
  int place(int line, int k) const {  // of an element's first byte
    if (!mn) {
      const int byte = k * element;
      return swizzled(byte / span() * along_k() + line * span() + byte % span());
    }
    const int byte = line * element;
    return swizzled(byte / span() * along_lines() + k / k_lines() * along_k() +
                    k % k_lines() * span() + byte % span());
  }
  // The descriptor of a step of 32 bytes along k (of `step` elements) from element k on, for a
  // matrix at shared address 0.
  std::uint64_t descriptor(int k) const {
    const std::uint64_t mode = swizzle == 0     ? 0
                               : swizzle == 1   ? 1
                               : swizzle == 128 ? 2
                               : swizzle == 64  ? 4
                                                : 6;
    std::uint64_t start, leading, stride;
    if (!mn) {
      const int byte = k * element;
      start = byte / span() * along_k() + byte % span();
      leading = along_k(), stride = 8 * span();
    } else {
      start = k / k_lines() * along_k();
      leading = along_lines(), stride = along_k();
      if (swizzle == 0) {
        const auto other = leading;
        leading = stride, stride = other;
      }
    }
    return start >> 4 | (leading >> 4 & 0x3fff) << 16 | (stride >> 4 & 0x3fff) << 32 | 1ull << 46 |
           mode << 61;
  }
};
