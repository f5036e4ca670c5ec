// Starts children, waits for them, and passes signals on.
#include "cli/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace inflight::cli {
namespace {

constexpr int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int each : passed_on) sigaddset(&set, each);
  return set;
}

std::vector<std::string> variables_with(const Environment& more) {
  std::vector<std::string> all;
  for (char** each = environ; *each; ++each) {
    const std::string text = *each;
    if (!more.count(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

Children::Children() {
  const sigset_t set = watched();
  sigprocmask(SIG_BLOCK, &set, &before_);
  std::signal(SIGCHLD, SIG_DFL);
}

Children::~Children() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

tl::expected<pid_t, std::string> Children::start(const Start& start) {
  const std::vector<std::string> variables = variables_with(start.extra_variables);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &before_);
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &pipe);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (start.silent) {
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const int each : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&files, each, "/dev/null", O_WRONLY, 0);
  }
  pid_t process = 0;
  const int error = posix_spawn(&process, start.path.c_str(), &files, &attributes,
                                pointers(start.words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error)
    return tl::unexpected(fmt::format("'{}' cannot be run: {}.", start.path, std::strerror(error)));
  running_.push_back(process);
  return process;
}

Children::Ended Children::wait() {
  const sigset_t set = watched();
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended > 0) {
      const auto found = std::find(running_.begin(), running_.end(), ended);
      if (found == running_.end()) continue;
      running_.erase(found);
      if (WIFEXITED(status)) return {ended, WEXITSTATUS(status), 0};
      return {ended, 128 + WTERMSIG(status), WTERMSIG(status)};
    }
    siginfo_t information{};
    const int signal = sigwaitinfo(&set, &information);
    // The terminal sends its signals (Ctrl-C) to the children too.
    if (signal > 0 && signal != SIGCHLD && information.si_code != SI_KERNEL) pass_on(signal);
  }
}

void Children::pass_on(int signal) const {
  for (const pid_t each : running_) kill(each, signal);
}

}  // namespace inflight::cli
