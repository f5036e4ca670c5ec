// Sentences that the audit module writes before the program runs.
#include "gpu/loader/host.hpp"

#include <gtest/gtest.h>

namespace inflight::loader {
namespace {

std::string reported(std::string_view name) {
  testing::internal::CaptureStderr();
  report({"'", name, "' is a name."});
  return testing::internal::GetCapturedStderr();
}

TEST(Report, IsALineOnStandardError) {
  EXPECT_EQ(reported("libfür.so"), "inflight: 'libfür.so' is a name.\n");
}

TEST(Report, GivesTheTerminalNothingToObey) {
  EXPECT_EQ(reported("a\033[31m\n \x7f."), "inflight: 'a?[31m? ?.' is a name.\n");
  for (const char* each : {"\xc2\x9b", "\u202e", "\u2066", "\u200f"})
    EXPECT_EQ(reported(each).find(each), std::string::npos);
}

}  // namespace
}  // namespace inflight::loader
