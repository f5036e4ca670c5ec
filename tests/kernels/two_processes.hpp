// A program of two processes that send one another values.
#pragma once
#include <unistd.h>

#include <cstdlib>

// One process's end of two pipes.
struct End {
  int in, out;
  template <class T>
  void send(const T& value) const {
    if (write(out, &value, sizeof value) != sizeof value) _exit(2);
  }
  template <class T>
  T receive() const {
    T value;
    if (read(in, &value, sizeof value) != sizeof value) _exit(3);
    return value;
  }
};

struct Child : End {
  pid_t process;
};

// Runs body(its end) in a second process, before this one uses CUDA.
inline Child start(int (*body)(const End&)) {
  int there[2], back[2];
  if (pipe(there) || pipe(back)) std::exit(1);
  const pid_t process = fork();
  if (process == 0) _exit(body({there[0], back[1]}));
  return {{back[0], there[1]}, process};
}
