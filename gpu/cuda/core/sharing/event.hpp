// What processes know in common of an event: how often it was recorded, and which recordings have
// been reached. It lies in a file that both map.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>

#include "gpu/cuda/core/sharing/handle.hpp"

namespace inflight::cuda {

class SharedEvent {
 public:
  static Result<std::shared_ptr<SharedEvent>> create();
  static Result<std::shared_ptr<SharedEvent>> open(const SharingHandle&);
  ~SharedEvent();

  // The number of the last recording by any process; 0: there is none.
  std::uint64_t last() const;
  // A recording begins, and is reached. If its process ends before that, it counts as reached.
  std::uint64_t begin();
  void finish(std::uint64_t number);
  // Of another process's recording.
  bool done(std::uint64_t number) const;
  // Waits for it, or for less; done().
  bool wait(std::uint64_t number, std::chrono::milliseconds longest) const;
  int file() const { return file_.number(); }

 private:
  struct Page;
  SharedEvent(Descriptor file, Page* page) : file_(std::move(file)), page_(page) {}
  static Result<std::shared_ptr<SharedEvent>> map(Descriptor file);
  bool locked(std::uint64_t number) const;
  Descriptor file_;
  Page* const page_;
};

}  // namespace inflight::cuda
