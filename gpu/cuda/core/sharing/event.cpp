// A page with a number for each recent recording. Waiters sleep on a futex in it. Until a recording
// is reached, its process locks a byte of the file, and the system releases the lock when the
// process ends, however it ends.
#include "gpu/cuda/core/sharing/event.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <ctime>

namespace inflight::cuda {
namespace {

// The most recordings that may be pending at once, which is more than a stream's queue can hold.
constexpr std::uint64_t slots = 2048;

struct flock lock_of(short type, std::uint64_t number) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = off_t(number % slots);
  lock.l_len = 1;
  return lock;
}

}  // namespace

struct SharedEvent::Page {
  std::atomic<std::uint64_t> last;
  std::atomic<std::uint32_t> wakes;
  // By slot: the latest recording that took its lock, and the latest that was reached.
  std::atomic<std::uint64_t> begun[slots], reached[slots];
};

Result<std::shared_ptr<SharedEvent>> SharedEvent::map(Descriptor file) {
  void* const at =
      mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (at == MAP_FAILED) return fail(Status::map_failed);
  return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(file), static_cast<Page*>(at)));
}

Result<std::shared_ptr<SharedEvent>> SharedEvent::create() {
  Descriptor file(memfd_create("event", MFD_CLOEXEC));
  if (file.number() < 0 || ftruncate(file.number(), sizeof(Page)) != 0)
    return fail(Status::out_of_memory);
  return map(std::move(file));  // zeros mean that it was never recorded
}

Result<std::shared_ptr<SharedEvent>> SharedEvent::open(const SharingHandle& handle) {
  auto file = open_shared(handle, SharingHandle::Kind::event);
  if (!file && file.error().status == Status::invalid_value) return fail(Status::map_failed);
  if (!file) return tl::unexpected(file.error());
  return map(std::move(*file));
}

SharedEvent::~SharedEvent() { munmap(page_, sizeof(Page)); }

std::uint64_t SharedEvent::last() const { return page_->last.load(std::memory_order_acquire); }

std::uint64_t SharedEvent::begin() {
  const std::uint64_t number = page_->last.fetch_add(1, std::memory_order_acq_rel) + 1;
  struct flock lock = lock_of(F_WRLCK, number);
  fcntl(file(), F_OFD_SETLK, &lock);
  page_->begun[number % slots].store(number, std::memory_order_release);
  return number;
}

void SharedEvent::finish(std::uint64_t number) {
  page_->reached[number % slots].store(number, std::memory_order_release);
  page_->wakes.fetch_add(1, std::memory_order_acq_rel);
  syscall(SYS_futex, &page_->wakes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  struct flock lock = lock_of(F_UNLCK, number);
  fcntl(file(), F_OFD_SETLK, &lock);
}

bool SharedEvent::locked(std::uint64_t number) const {
  struct flock lock = lock_of(F_WRLCK, number);
  return fcntl(file(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool SharedEvent::done(std::uint64_t number) const {
  const auto reached = [&] {
    return page_->reached[number % slots].load(std::memory_order_acquire) >= number;
  };
  if (reached()) return true;
  if (page_->begun[number % slots].load(std::memory_order_acquire) < number) return false;
  return !locked(number);  // it has now been reached, or its process has ended
}

bool SharedEvent::wait(std::uint64_t number, std::chrono::milliseconds longest) const {
  const std::uint32_t seen = page_->wakes.load(std::memory_order_acquire);
  if (done(number)) return true;
  const std::chrono::nanoseconds time = longest;
  const timespec most{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
  syscall(SYS_futex, &page_->wakes, FUTEX_WAIT, seen, &most, nullptr, 0);
  return done(number);
}

}  // namespace inflight::cuda
