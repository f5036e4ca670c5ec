// Passes findings of several checked processes to the process that started them. Each writes every
// finding immediately to its own file in one of the given folders, so that none is lost if a
// process is killed, a disk is full, or the program closes descriptors and removes files.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/check/finding/finding.hpp"
#include "gpu/check/report/left_undone.hpp"
#include "gpu/host/own_descriptor.hpp"

namespace inflight::check {

// What one process keeps. A forked child has files of its own. Threads may use it together.
class Spool {
 public:
  // `folders`: in the order in which they are tried.
  explicit Spool(std::vector<std::string> folders);
  // Whether the process has a file that holds something.
  bool open() const { return !paths_.empty(); }
  // Returns false if the finding could not be kept.
  bool add(const Finding& finding);
  // How many launches have begun and ended so far, for the case that the process is killed.
  void count(std::uint64_t launches, std::uint64_t ended);
  // Call it last. `findings`: all, in the order in which they were added, with their counts. Those
  // that could not be kept before, or were in a file that is gone, are written again. Returns false
  // if something could not be kept.
  bool conclude(std::uint64_t launches, const std::vector<Finding>& findings,
                const LeftUndone& left = {});

 private:
  void begin_process();
  bool keep(const std::string& line);
  bool append(const std::string& line);
  bool begin_file(const std::string& folder, const std::string& line);
  int descriptor();
  bool write_head();

  std::vector<std::string> folders_;
  int process_ = 0;
  std::string name_;                // of this process's files, without their number
  unsigned files_ = 0;              // attempts to make one
  std::vector<std::string> paths_;  // of the files, the current one last
  host::OwnDescriptor file_;
  std::int64_t end_ = 0;     // of the current file's last line
  std::uint64_t found_ = 0;  // findings so far
  std::uint64_t launches_ = 0, ended_ = 0;
  std::mutex mutex_;
  bool all_kept_ = true;
  bool marked_ = false;  // there is an empty file
};

// A process that did not call conclude(): it was killed, or ended without its exit functions.
struct Unfinished {
  int process = 0;
  std::uint64_t running = 0;  // launches that had not ended
};
struct Spooled {
  std::size_t processes = 0;
  std::vector<Unfinished> unfinished;
  std::uint64_t launches = 0;
  LeftUndone left;                    // by processes that called conclude()
  std::uint64_t lost = 0;             // findings that could not be kept
  std::vector<std::string> problems;  // sentences without an end: what could not be read
  std::vector<Finding> findings;
};
// Reads all files in the folders. Skips an incomplete line that a killed process left.
Spooled read_spool(const std::vector<std::string>& folders);

// Folders for the files of one run, which only processes that know their names can find. They may
// be processes of other users. Removed with the object.
class SpoolFolders {
 public:
  // Makes one in TMPDIR and one on another disk, if it can.
  SpoolFolders();
  ~SpoolFolders();
  SpoolFolders(const SpoolFolders&) = delete;
  SpoolFolders& operator=(const SpoolFolders&) = delete;
  // Empty if none could be made: see problem().
  const std::vector<std::string>& paths() const { return paths_; }
  // Separated by colons.
  std::string list() const;
  // Why no folder could be made, as a sentence.
  const std::string& problem() const { return problem_; }

 private:
  std::vector<std::string> made_, paths_;
  std::string problem_;
};

}  // namespace inflight::check
