// A page with a number for each recent recording. Waiters sleep on a futex in it. Until a recording
// is reached, its process locks a byte of the file, and the system releases the lock when the
// process ends, however it ends. Other processes may write any numbers to the page, so they only
// decide when a wait ends.
#include "gpu/cuda/core/sharing/event.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <ctime>

#include "gpu/host/shared_file.hpp"

namespace inflight::cuda {
namespace {

// The most recordings that may be pending at once, which is more than a stream's queue can hold.
constexpr std::uint64_t slots = 2048;

// The bytes that processes lock: one by slot, and one while they take a number and its slot.
constexpr std::uint64_t entering_byte = slots;
std::uint64_t byte_of(std::uint64_t number) { return number % slots; }

struct flock lock_of(short type, std::uint64_t byte) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = off_t(byte);
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

Result<std::shared_ptr<SharedEvent>> SharedEvent::map(host::OwnDescriptor file) {
  void* const at = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (at == MAP_FAILED) return fail(Status::map_failed);
  return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(file), static_cast<Page*>(at)));
}

Result<std::shared_ptr<SharedEvent>> SharedEvent::create() {
  auto file = host::make_shared_file(host::event_file, sizeof(Page));
  if (!file.owns()) return fail(Status::out_of_memory);
  return map(std::move(file));  // zeros mean that it was never recorded
}

Result<std::shared_ptr<SharedEvent>> SharedEvent::open(const SharingHandle& handle) {
  auto file = open_shared(handle, SharingHandle::Kind::event);
  if (!file && file.error().status == Status::invalid_value) return fail(Status::map_failed);
  if (!file) return tl::unexpected(file.error());
  const auto facts = host::shared_file(file->fd(), host::event_file);
  if (!facts || facts->bytes != sizeof(Page)) return fail(Status::map_failed);
  return map(std::move(*file));
}

SharedEvent::~SharedEvent() { munmap(page_, sizeof(Page)); }

std::uint64_t SharedEvent::last() const { return page_->last.load(std::memory_order_acquire); }

std::uint64_t SharedEvent::begin() {
  const std::lock_guard lock(entering_);
  // For reading, so that processes do not wait for each other here.
  set_lock(F_RDLCK, entering_byte);
  const std::uint64_t number = page_->last.fetch_add(1, std::memory_order_acq_rel) + 1;
  set_lock(F_WRLCK, byte_of(number));
  page_->begun[byte_of(number)].store(number, std::memory_order_release);
  set_lock(F_UNLCK, entering_byte);
  if (file() < 0) lost_descriptor();
  return number;
}

void SharedEvent::finish(std::uint64_t number) {
  page_->reached[byte_of(number)].store(number, std::memory_order_release);
  page_->wakes.fetch_add(1, std::memory_order_acq_rel);
  syscall(SYS_futex, &page_->wakes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  set_lock(F_UNLCK, byte_of(number));
}

void SharedEvent::set_lock(short type, std::uint64_t byte) const {
  struct flock lock = lock_of(type, byte);
  fcntl(file(), F_OFD_SETLK, &lock);
}

bool SharedEvent::locked(std::uint64_t byte) const {
  struct flock lock = lock_of(F_WRLCK, byte);
  return fcntl(file(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool SharedEvent::done(std::uint64_t number) const {
  const auto reached = [&] {
    return page_->reached[byte_of(number)].load(std::memory_order_acquire) >= number;
  };
  const auto begun = [&] {
    return page_->begun[byte_of(number)].load(std::memory_order_acquire) >= number;
  };
  if (reached()) return true;
  if (!begun()) {
    if (locked(entering_byte)) return false;
    if (!begun()) return true;  // its process ended before it could lock its byte
  }
  return !locked(byte_of(number));  // it has now been reached, or its process has ended
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
