// Text from programs that terminals would obey.
#include "gpu/check/printable.hpp"

#include <gtest/gtest.h>

#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

TEST(Printable, LeavesTextAlone) {
  for (const char* each : {"", "copy.cu:31", "void f<int>(float*)", "größe.cu", "メモリ", "😀 ~"})
    EXPECT_EQ(printable(each), each);
}

TEST(Printable, EscapesWhatATerminalObeys) {
  EXPECT_EQ(printable("\033]0;title\007"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\nb\tc\r\x7f"), "a\\x0ab\\x09c\\x0d\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("a\u202eb\u2066c\u200f\u2028"), "a\\u202eb\\u2066c\\u200f\\u2028");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(printable("\x9b"), "\\x9b");           // alone
  EXPECT_EQ(printable("\xc3"), "\\xc3");           // cut
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");  // overlong
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
  EXPECT_EQ(printable("\xc3ü"), "\\xc3ü");
}

TEST(Printable, KeepsTheLinesOfATextOfSeveral) {
  EXPECT_EQ(printable_lines("a\n\tb\033"), "a\n\tb\\x1b");
}

TEST(Printable, LetsNoPartOfAMessagePoseAsAnother) {
  EXPECT_EQ(printable_message("x\ninflight: nothing found\n  y\n"),
            "x\n  inflight: nothing found\n  y\n");
}

TEST(Printable, IsWhatReadableNamesAre) {
  EXPECT_EQ(readable("k\033[31m"), "k\\x1b[31m");
  EXPECT_EQ(readable(std::string(200, 'k') + "\033").find('\033'), std::string::npos);
}

}  // namespace
}  // namespace inflight::check
