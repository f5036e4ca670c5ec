// Filters findings: by suppressions, and by the findings of an earlier report (baseline).
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

// One entry of a suppression file:
//   {
//     a name
//     inflight:read-before-wait
//     kernel:copy_*
//     source:*/copy.cu:31
//   }
// All of its patterns must match. '*' matches any characters, '?' matches one.
struct Suppression {
  enum class Subject : std::uint8_t {
    kernel,    // of either side, readable or mangled name
    function,  // of either side, readable or mangled name
    source,    // FILE or FILE:LINE of either side
    here,      // FILE or FILE:LINE of Finding::here
    there,     // FILE or FILE:LINE of Finding::there
  };
  struct Pattern {
    Subject subject = Subject::kernel;
    std::string text;
  };
  std::string name, kind;
  std::vector<Pattern> patterns;
  std::string file;  // the file that contains it
  std::size_t line = 0;
};

// An error is a sentence that begins with file and line.
tl::expected<std::vector<Suppression>, std::string> read_suppressions(const std::string& path);
tl::expected<std::vector<Suppression>, std::string> parse_suppressions(std::string_view text,
                                                                       const std::string& path);
bool matches(const Suppression& suppression, const Finding& finding);
// Returns an entry that matches this finding and others of the same kind at the same lines.
std::string suppression_for(const Finding& finding);
// Whether the whole text matches. '*' matches any characters, '?' matches one.
bool matches_wildcards(std::string_view pattern, std::string_view text);

// The findings of an earlier report, with the number of times each appears there. A finding is
// recognised by the text of its source lines, so that it is still known after lines before it are
// added or removed.
class Baseline {
 public:
  void add(const Finding& finding);
  // Whether the finding is known. If so, removes one occurrence.
  bool take(const Finding& finding);

 private:
  std::map<std::string, std::size_t> known_;
};

class Filter {
 public:
  enum class Verdict : std::uint8_t { report, suppressed, known };
  // Reads the suppression files and, unless empty, the baseline report. An error is a sentence.
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
