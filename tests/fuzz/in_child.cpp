// Starts and awaits processes that run one input each.
#include "tests/fuzz/in_child.hpp"

#include <execinfo.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "tests/fuzz/reporting.hpp"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace inflight::fuzz {
namespace {

constexpr long most_pages = (3l << 30) / 4096;  // in memory

// Under a sanitizer the limit of mutate_main.cpp is not watched in a child.
void watch_memory() {
  std::thread([] {
    for (;;) {
      long all = 0, resident = 0;
      std::ifstream("/proc/self/statm") >> all >> resident;
      if (resident > most_pages) {
        std::fprintf(stderr, "the input takes more than 3 GB of memory\n");
        std::abort();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }).detach();
}

void show_stack() {
  std::array<void*, 64> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), static_cast<int>(frames.size())),
                       STDERR_FILENO);
  constexpr std::string_view end = "\n";
  (void)!write(STDERR_FILENO, end.data(), end.size());
}
// A sanitizer says more.
void die(int number) {
  show_stack();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Where each thread of a process is that does not end.
void show_stacks(pid_t process) {
  std::error_code error;
  const std::string threads = "/proc/" + std::to_string(process) + "/task";
  for (const auto& each : std::filesystem::directory_iterator(threads, error)) {
    syscall(SYS_tgkill, process, std::atoi(each.path().filename().c_str()), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // they do not mix
  }
}

[[noreturn]] void run_body(int output, const std::function<void()>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (!__sanitizer_set_death_callback)
    for (int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) std::signal(number, die);
  std::signal(SIGUSR1, [](int) { show_stack(); });
  watch_memory();
  body();
  std::fflush(nullptr);
#ifdef INFLIGHT_LIBFUZZER  // which takes exit() for a crash
  _exit(0);
#else
  std::exit(0);
#endif
}

std::string end_of(int file) {
  constexpr off_t most = 40000;
  const off_t size = lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::min(size, most)), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), std::max<off_t>(0, size - most));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return text;
}

}  // namespace

ChildEnd in_child(unsigned seconds, const std::function<void()>& body) {
  std::array<int, 2> alive{};
  const int output = memfd_create("output", MFD_CLOEXEC);
  require(output >= 0 && pipe(alive.data()) == 0, "a process can have files");
  std::fflush(nullptr);
  const pid_t child = fork();
  require(child >= 0, "a process can be started");
  if (child == 0) {
    close(alive[0]);
    run_body(output, body);
  }
  close(alive[1]);
  ChildEnd end;
  pollfd ended{alive[0], POLLIN, 0};
  end.too_slow = poll(&ended, 1, static_cast<int>(seconds) * 1000) == 0;
  if (end.too_slow) {
    show_stacks(child);
    kill(child, SIGKILL);
  }
  waitpid(child, &end.status, 0);
  if (!end.well()) end.printed = end_of(output);
  close(alive[0]);
  close(output);
  return end;
}

std::string described(const ChildEnd& end) {
  std::string text = end.printed;
  if (end.too_slow) return text + "the input does not end in time\n";
  if (WIFSIGNALED(end.status))
    return text + "the input ended its process by signal " + std::to_string(WTERMSIG(end.status)) +
           "\n";
  return text + "the input ended its process with status " +
         std::to_string(WEXITSTATUS(end.status)) + "\n";
}

}  // namespace inflight::fuzz
