// A program of two processes that exchange values and open files.
#pragma once
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

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

// Runs body(its end) in a second process, created before this one uses CUDA.
inline Child start(int (*body)(const End&)) {
  int there[2], back[2];
  if (pipe(there) || pipe(back)) std::exit(1);
  const pid_t process = fork();
  if (process == 0) _exit(body({there[0], back[1]}));
  return {{back[0], there[1]}, process};
}

// A socket control message that carries a file descriptor.
struct FileMessage {
  char byte = 0;
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  iovec io{&byte, 1};
  msghdr header{};
  FileMessage() {
    header.msg_iov = &io, header.msg_iovlen = 1;
    header.msg_control = room, header.msg_controllen = sizeof room;
  }
  FileMessage(const FileMessage&) = delete;
};

inline void send_file(int socket, int file) {
  FileMessage message;
  cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET, control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(control), &file, sizeof file);
  if (sendmsg(socket, &message.header, 0) != 1) _exit(2);
}
inline int receive_file(int socket) {
  FileMessage message;
  if (recvmsg(socket, &message.header, 0) != 1) _exit(3);
  int file;
  std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message.header)), sizeof file);
  return file;
}
