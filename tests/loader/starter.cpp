// Starts a program with a given environment in one of the possible ways: starter HOW PROGRAM.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

char one[] = "STARTED=1";
char* own_environment[] = {one, nullptr};

int status_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string how = arguments[1];
  char* const program = arguments[2];
  char* const words[] = {program, nullptr};
  pid_t child = 0;
  if (how == "execve") execve(program, words, own_environment);
  if (how == "execle") execle(program, program, nullptr, own_environment);
  if (how == "execvpe") execvpe(program, words, own_environment);
  if (how == "fexecve") fexecve(open(program, O_RDONLY), words, own_environment);
  if (how == "execveat")
    execveat(open(program, O_RDONLY), "", words, own_environment, AT_EMPTY_PATH);
  if (how == "vfork") {
    if ((child = vfork()) == 0) {
      execve(program, words, own_environment);
      _exit(127);
    }
    return status_of(child);
  }
  if (how == "posix_spawn")
    return posix_spawn(&child, program, nullptr, nullptr, words, own_environment)
               ? 127
               : status_of(child);
  if (how == "posix_spawnp")
    return posix_spawnp(&child, program, nullptr, nullptr, words, own_environment)
               ? 127
               : status_of(child);
  environ = own_environment;
  if (how == "system") return WEXITSTATUS(std::system(program));
  if (how == "popen") {
    FILE* const pipe = popen(program, "r");
    for (int c; pipe && (c = std::fgetc(pipe)) != EOF;) std::putchar(c);
    return pipe ? WEXITSTATUS(pclose(pipe)) : 127;
  }
  std::perror("");
  return 0;
}
