// Every case of tensor_truth in the order of its output. Cases that may fault come last.
#pragma once
#include <utility>
#include <vector>

#include "encodings.hpp"
#include "scripted_cases.hpp"

namespace tensor_truth {

inline std::vector<Case> all_cases() {
  std::vector<Case> all;
  std::uint32_t group = 0;
  const auto append = [&](std::vector<Case> more) {
    for (Case& c : more) c.group = group;
    all.insert(all.end(), more.begin(), more.end());
    ++group;
  };
  const auto append_random = [&](Case (*random)(std::uint64_t), std::uint64_t first,
                                 std::uint64_t count) {
    std::vector<Case> cases;
    for (std::uint64_t seed = first; seed < first + count; ++seed) cases.push_back(random(seed));
    append(std::move(cases));
  };
  const auto append_added = [&](void (*add)(std::vector<Case>&)) {
    std::vector<Case> cases;
    add(cases);
    append(std::move(cases));
  };
  append(encoding_cases());
  append(value_cases());
  append(fill_cases());
  append(swizzle_cases());
  append_random(random_tile, 0, 1800);
  append_random(random_im2col, 100000, 700);
  append_added(add_tile_probes);
  append_added(add_im2col_probes);
  append_added(add_interleave_probes);
  append_added(add_interleaved_im2col_probes);
  append_random(random_interleaved, 200000, 300);
  append_added(add_replace_probes);
  append(doubtful_value_cases());
  append_added(add_faults);
  return all;
}

}  // namespace tensor_truth
