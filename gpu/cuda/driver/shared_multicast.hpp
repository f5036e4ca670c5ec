// The state of a multicast object that processes share: its devices and the memory bound to each.
// It lies in a file that all of them map. Any of them may write anything to it.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "gpu/cuda/core/sharing/handle.hpp"

namespace inflight::cuda::driver {

// Devices are named by their index on the machine.
class SharedMulticast {
 public:
  static constexpr unsigned most_devices = 64;  // of a machine; a process may see fewer
  static Result<std::shared_ptr<SharedMulticast>> create(unsigned devices, std::uint64_t bytes);
  // invalid_value: the file is none of this library, of another user, or damaged.
  static Result<std::shared_ptr<SharedMulticast>> open(int file);
  ~SharedMulticast();

  // These fail with illegal_state if the page is damaged, and with operating_system if another
  // process keeps it locked, or the program has closed its file.
  //
  // invalid_value: the device is already added, or the object has its full number of devices.
  Status add(int device);
  // Binds memory of this process. Its file must stay open until it is unbound (invalid_value: the
  // device was not added, other devices are missing, or the range is outside the object or not
  // free).
  Status bind(int device, std::uint64_t offset, const SharingHandle& memory);
  // invalid_value: exactly this range is not bound.
  Status unbind(int device, std::uint64_t offset, std::uint64_t bytes);
  // Increased by each successful call of these, in any process.
  std::uint64_t version() const;
  // The devices in the order in which they were added, and the memory bound now, mapped into this
  // process. Memory that cannot be mapped is left out.
  struct Range {
    int device;
    std::uint64_t offset, bytes;
    std::byte* at;
  };
  struct View {
    std::uint64_t version;
    std::vector<int> devices;
    std::vector<Range> ranges;
    // Holds the memory that earlier views had and this one has not. Let it go when kernels can no
    // longer find that memory.
    std::shared_ptr<void> ended;
  };
  // Fails as the calls above do.
  Result<View> view();

  unsigned most() const { return most_; }
  std::uint64_t bytes() const { return bytes_; }
  int file() const { return file_.fd(); }  // or -1 if the program has closed it
  bool same_file(int other) const;

 private:
  struct Binding;
  struct Page;
  struct State;
  class Lock;
  struct Mapping;
  SharedMulticast(host::OwnDescriptor file, Page* page, unsigned most, std::uint64_t bytes);
  static Page* map(const host::OwnDescriptor& file);
  Result<State> read() const;
  std::byte* place_of(const Binding& binding);

  const host::OwnDescriptor file_;
  Page* const page_;
  const unsigned most_;
  const std::uint64_t bytes_;
  std::chrono::milliseconds patience_;  // how long to wait for other processes; with mutex_
  std::mutex mutex_;
  // By process, inode, offset in the file, and length.
  using Key = std::tuple<int, std::uint64_t, std::uint64_t, std::uint64_t>;
  static Key key_of(const Binding& binding);
  std::map<Key, std::unique_ptr<Mapping>> mappings_;
};

}  // namespace inflight::cuda::driver
