// What the program's host code can access of the devices' own memory: nothing, as with a GPU. While
// nobody works with that memory, its pages are closed to the whole process.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace inflight::machine {

class [[gnu::visibility("default")]] HostView {
 public:
  explicit HostView(std::size_t devices);

  // Until close() is called, pages are always open.
  enum class Effort : std::uint8_t {
    sparing,  // leaves pages open where closing them would slow the process down noticeably
    full,
  };
  void close(Effort effort);
  // Opens them for good. This can be called in a signal handler.
  void leave_open();

  // While one exists, a thread may access all devices' memory. It costs little while another does.
  class Access {
   public:
    explicit Access(HostView& view)
        : view_(view.closes_.load(std::memory_order_relaxed) ? &view : nullptr) {
      if (view_) view_->begin();
    }
    ~Access() {
      if (view_) view_->end();
    }
    Access(const Access&) = delete;

   private:
    HostView* const view_;
  };

  // The device's memory will begin here. It has no pages yet.
  void place(std::size_t device, std::uint64_t base);
  // Makes the pages from the end of the device's memory to `high` part of it. False: the host
  // refuses.
  bool extend(std::size_t device, std::uint64_t high);

  // These can be called in a signal handler.
  bool holds(std::uint64_t address) const;
  bool is_open() const { return !closed_.load(); }
  // Opens all pages, without an Access, until an Access ends. False: the host refuses.
  bool open();

 private:
  using Clock = std::chrono::steady_clock;
  struct Pages {
    std::uint64_t base = 0;
    std::atomic<std::uint64_t> end{0};
  };
  void begin() {
    users_.fetch_add(1);
    if (closed_.load()) open();
  }
  void end() {
    if (users_.fetch_sub(1) == 1) close_unused();
  }
  void close_unused();
  void spend(Clock::duration time);
  bool protect(int protection) const;

  const std::size_t devices_;
  const std::unique_ptr<Pages[]> pages_;
  std::atomic<bool> closes_{false}, closed_{false}, has_pages_{false};
  std::atomic<unsigned> users_{0};
  std::atomic<std::int64_t> closes_again_{0};  // a sparing view stays open until this coarse time
  // Held while protections change. A signal handler may wait for it, because its holder accesses no
  // device memory.
  mutable std::atomic_flag changing_;
  // Guarded by it.
  Effort effort_ = Effort::full;
  std::int64_t began_ = 0;  // coarse
  Clock::duration spent_{};
};

}  // namespace inflight::machine
