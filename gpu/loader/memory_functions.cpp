// Functions to which a compiler may emit calls, for the audit module, which has no C library.
#include <emmintrin.h>

#include <cstddef>

extern "C" {
void* memcpy(void* to, const void* from, std::size_t bytes) {
  void* result = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  return result;
}
void* memset(void* to, int value, std::size_t bytes) {
  void* result = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return result;
}
int memcmp(const void* a, const void* b, std::size_t bytes) {
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (; bytes > 0; --bytes, ++x, ++y) {
    if (*x != *y) return *x - *y;
  }
  return 0;
}
void* memchr(const void* where, int value, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(where);
  // Vectorised because it finds the ends of thousands of names.
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(value));
  for (; bytes >= sizeof wanted; bytes -= sizeof wanted, at += sizeof wanted) {
    const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(here, wanted));
    if (found != 0) return const_cast<unsigned char*>(at + __builtin_ctz(unsigned(found)));
  }
  for (; bytes > 0; --bytes, ++at) {
    if (*at == static_cast<unsigned char>(value)) return const_cast<unsigned char*>(at);
  }
  return nullptr;
}
char* strchr(const char* text, int value) {
  for (;; ++text) {
    if (*text == static_cast<char>(value)) return const_cast<char*>(text);
    if (*text == 0) return nullptr;
  }
}
std::size_t strlen(const char* text) {
  std::size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}
}
