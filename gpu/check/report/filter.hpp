// What a user does not want to see again: suppressions, and the findings of an earlier report.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

// One entry of a file:
//   {
//     a name
//     inflight:read-before-wait
//     kernel:copy_*
//     source:*/copy.cu:31
//   }
// All of its patterns must match; '*' stands for any characters, '?' for one.
struct Suppression {
  enum class Subject : std::uint8_t {
    kernel,    // of either side, as read or as in PTX
    function,  // likewise
    source,    // FILE or FILE:LINE of either side
    here,      // FILE or FILE:LINE of the finding's own side
    there,     // of the other side
  };
  struct Pattern {
    Subject subject = Subject::kernel;
    std::string text;
  };
  std::string name, kind;
  std::vector<Pattern> patterns;
  std::string file;  // where it was read
  std::size_t line = 0;
};

// An error is a sentence with file and line.
tl::expected<std::vector<Suppression>, std::string> read_suppressions(const std::string& path);
tl::expected<std::vector<Suppression>, std::string> parse_suppressions(std::string_view text,
                                                                       const std::string& path);
bool matches(const Suppression& suppression, const Finding& finding);
// An entry that matches this finding and those of the same kind at the same lines.
std::string suppression_for(const Finding& finding);
// '*' any characters, '?' one.
bool matches_wildcards(std::string_view pattern, std::string_view text);

// An earlier report's findings, each of which is known as often as it stands there. A finding is
// recognised by its lines' text, so that it stays known where lines before it come or go.
class Baseline {
 public:
  void add(const Finding& finding);
  // Whether it is known. One that is, is known once less.
  bool take(const Finding& finding);

 private:
  std::map<std::string, std::size_t> known_;
};

class Filter {
 public:
  enum class Verdict : std::uint8_t { report, suppressed, known };
  // An error is a sentence.
  static tl::expected<Filter, std::string> read(const std::vector<std::string>& suppressions,
                                                const std::string& baseline);
  Verdict judge(const Finding& finding);
  std::vector<const Suppression*> unused() const;

 private:
  std::vector<Suppression> suppressions_;
  std::vector<bool> used_;
  Baseline baseline_;
};

}  // namespace inflight::check
