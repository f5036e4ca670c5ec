// The table of instructions as a whole.
#include "gpu/machine/decode/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace inflight::machine {
namespace {

bool of_one_form(const Row& a, const Row& b) {
  return a.opcode == b.opcode && a.types == b.types && a.mods == b.mods;
}

// The second of two such rows would never be used.
TEST(Table, HasOneRowForEachForm) {
  Rows all = all_rows();
  ASSERT_GT(all.size(), 1000u);
  std::ranges::stable_sort(all, {}, &Row::opcode);
  for (auto row = all.begin(); row != all.end(); ++row)
    for (auto other = row + 1; other != all.end() && other->opcode == row->opcode; ++other)
      if (of_one_form(*row, *other))
        ADD_FAILURE() << "opcode " << ptx::spelling(row->opcode) << " "
                      << ptx::spelling(row->types[0]) << " is there twice";
}

}  // namespace
}  // namespace inflight::machine
