// The inputs of a form's cases: words per lane, metadata and descriptors.
#pragma once
#include <algorithm>
#include <vector>

#include "forms.hpp"
#include "text.hpp"

struct Case {
  Mixture mixture;
  std::uint64_t seed;
};

inline std::uint64_t seed_of(const std::string& name, std::uint64_t seed, int number) {
  std::uint64_t h = 0xcbf29ce484222325 ^ seed;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  Random r(h + static_cast<std::uint64_t>(number) * 0x51ed2701);
  return r.next();
}

// Selects two of each four elements (one of each two with `halves`) in increasing order.
inline std::uint32_t metadata(Random& r, bool halves) {
  constexpr std::uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, ones[] = {0x4, 0xe};
  std::uint32_t word = 0;
  for (int i = 0; i < 8; ++i) word |= (halves ? ones[r.below(2)] : pairs[r.below(6)]) << 4 * i;
  return word;
}

inline int lanes_of(const Form& f) {
  return f.kind == Kind::wgmma ? 128 : f.kind == Kind::wmma ? 1 : 32;
}
inline int descriptor_words(const Form& f) { return f.kind == Kind::wgmma ? 4 : 0; }
inline int in_words(const Form& f) {
  return descriptor_words(f) +
         lanes_of(f) * (f.a_words + f.b_words + f.c_words + (f.sparse ? 1 : 0));
}
inline int out_words(const Form& f) { return lanes_of(f) * f.d_words; }

// Start, leading and stride offset in units of 16 bytes, base offset and layout type.
inline std::uint64_t descriptor(Random& r, const Form& f, int room) {
  constexpr int atoms[] = {8, 64, 32, 16};  // size of each layout type in units of 16 bytes
  const int atom = f.anywhere ? 1 : atoms[f.swizzle];
  std::uint64_t start = static_cast<std::uint64_t>(r.below(room / atom)) * atom;
  if (f.swizzle && !f.anywhere) start += 2 * static_cast<std::uint64_t>(r.below(atom / 16));
  const auto offset = [&] { return static_cast<std::uint64_t>(1 + r.below(f.anywhere ? 64 : 32)); };
  const int unit = f.swizzle && !f.anywhere ? atom : 1;
  const std::uint64_t leading =
      unit == 1 ? offset() * 4 : static_cast<std::uint64_t>(unit) * (1 + r.below(2));
  const std::uint64_t stride =
      unit == 1 ? offset() * 4 : static_cast<std::uint64_t>(unit) * (1 + r.below(2));
  const std::uint64_t base = f.anywhere ? static_cast<std::uint64_t>(r.below(8)) : 0;
  return start | leading << 16 | stride << 32 | base << 49 |
         static_cast<std::uint64_t>(f.swizzle) << 62;
}

inline void make_case(const Form& f, const Case& c, std::uint32_t* words) {
  Random r(c.seed);
  if (f.kind == Kind::wgmma) {
    const std::uint64_t a = descriptor(r, f, 1024), b = descriptor(r, f, 2048);
    for (const std::uint64_t d : {a, b})
      *words++ = static_cast<std::uint32_t>(d), *words++ = static_cast<std::uint32_t>(d >> 32);
  }
  const int lanes = lanes_of(f);
  // Elements of 64 bits take two words of a lane, which are not adjacent.
  const auto part = [&](Format format, int count, bool accumulator) {
    if (!count) return;
    Elements e(format, c.mixture, r.next());
    std::vector<std::uint32_t> all(static_cast<std::size_t>(count) * lanes);
    fill(e, format, accumulator, all.data(), static_cast<int>(all.size()));
    for (int w = 0; w < count; ++w)
      for (int l = 0; l < lanes; ++l)
        words[w * lanes + l] = all[static_cast<std::size_t>(l) * count + w];
    words += all.size();
  };
  part(f.a, f.a_words, false);
  part(f.b, f.b_words, false);
  part(f.c, f.c_words, true);
  if (f.sparse)
    for (int l = 0; l < lanes; ++l) *words++ = metadata(r, f.halves);
}

// The contents of shared memory in all cases of a mixture.
inline std::vector<std::uint32_t> pool_of(const Form& f, Mixture m, std::uint64_t seed) {
  std::vector<std::uint32_t> words(text::pool_bytes / 4);
  // Operands of two formats lie anywhere in it, so 4 KB of one format alternate with 4 KB of the
  // other.
  for (std::size_t at = 0; at < words.size(); at += 1024) {
    const Format format = at / 1024 % 2 ? f.b : f.a;
    Elements e(format, m, seed_of("pool", seed, static_cast<int>(at)));
    fill(e, format, false, words.data() + at, 1024);
  }
  return words;
}
