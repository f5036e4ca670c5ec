// Every case of tensor_truth, in the order of its output: what may fault comes last.
#pragma once
#include <vector>

#include "encodings.hpp"
#include "scripted_cases.hpp"

namespace tensor_truth {

inline std::vector<Case> all_cases() {
  std::vector<Case> all = encoding_cases();
  const auto append = [&](const std::vector<Case>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  append(value_cases());
  append(fill_cases());
  append(swizzle_cases());
  for (std::uint64_t seed = 0; seed < 1800; ++seed) all.push_back(random_tile(seed));
  for (std::uint64_t seed = 0; seed < 700; ++seed) all.push_back(random_im2col(100000 + seed));
  std::vector<Case> probes;
  add_tile_probes(probes);
  add_im2col_probes(probes);
  add_interleave_probes(probes);
  append(probes);
  for (std::uint64_t seed = 0; seed < 300; ++seed) all.push_back(random_interleaved(200000 + seed));
  std::vector<Case> replaced;
  add_replace_probes(replaced);
  append(replaced);
  append(doubtful_value_cases());
  return all;
}

}  // namespace tensor_truth
