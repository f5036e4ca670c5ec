// Reads the lines of source files and caches them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

// The root of the Git working tree that contains the working directory, else the working directory.
std::string source_root();

// PTX and reports may name any file, such as one with passwords. So only files are read that the
// user may have meant: below the working directory, its Git working tree, the CUDA toolkit, the
// system's headers, and folders that the user names. Hidden files and folders below them are left
// out, and symbolic links count as what they lead to.
class SourceFiles {
 public:
  // `folders`: those that the user names.
  explicit SourceFiles(const std::vector<std::string>& folders = {});
  // All lines of the file. Empty if it cannot be read or must not be shown.
  const std::vector<std::string>& lines(const std::string& file);
  // Stores the text of own_line() in a place, or in every place of a finding.
  void quote(CodePlace& place);
  void quote(Finding& finding);

 private:
  bool may_show(const std::string& real_path) const;
  std::vector<std::string> folders_;  // real paths that end in a slash
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace inflight::check
