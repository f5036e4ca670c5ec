// The state of an event that processes share: the number of recordings, and which of them have been
// reached. It lies in a file that all of them map.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include "gpu/cuda/core/sharing/handle.hpp"

namespace inflight::cuda {

class SharedEvent {
 public:
  static Result<std::shared_ptr<SharedEvent>> create();
  static Result<std::shared_ptr<SharedEvent>> open(const SharingHandle&);
  ~SharedEvent();

  // The number of the last recording by any process; 0: there is none.
  std::uint64_t last() const;
  // Begin a recording, and mark it as reached. If its process ends earlier, it counts as reached.
  std::uint64_t begin();
  void finish(std::uint64_t number);
  // For another process's recording only.
  bool done(std::uint64_t number) const;
  // Waits at most `longest`, perhaps less. Returns done().
  bool wait(std::uint64_t number, std::chrono::milliseconds longest) const;
  // The descriptor of its file, or -1 if the program has closed it.
  int file() const { return file_.fd(); }

 private:
  struct Page;
  SharedEvent(host::OwnDescriptor file, Page* page) : file_(std::move(file)), page_(page) {}
  static Result<std::shared_ptr<SharedEvent>> map(host::OwnDescriptor file);
  void set_lock(short type, std::uint64_t byte) const;
  bool locked(std::uint64_t byte) const;
  std::mutex entering_;
  const host::OwnDescriptor file_;
  Page* const page_;
};

}  // namespace inflight::cuda
