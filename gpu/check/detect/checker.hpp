// All detectors, as one listener.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/history.hpp"
#include "gpu/check/finding/source.hpp"

namespace inflight::check {

class Checker : public Listeners {
 public:
  // Fills in the program's name for a finding's bytes, if the PTX has no name for that memory.
  using NameMemory = std::function<void(Bytes&)>;
  // `source_folders`: as in SourceFiles.
  Checker(const CheckOptions& options, Findings::OnNew on_new, NameMemory name_memory = {},
          const std::vector<std::string>& source_folders = {});
  const Findings& findings() const { return findings_; }
  std::uint64_t launches() const { return launches_.load(std::memory_order_relaxed); }

  // The accesses that a detector is notified of.
  enum class Accesses : std::uint8_t { every, strong, write, none };
  void accessed(const Access&) override;

  // Names of a launch are valid from before its first event until after its last.
  void kernel_begin(const KernelBegin&) override;
  void kernel_end(const KernelEnd&) override;
  // The history of a block is kept until after its last event, too.
  void block_end(const BlockEnd&) override;

 private:
  Places places_;
  Findings findings_;
  Moments moments_;
  SourceFiles sources_;
  History history_{places_};
  std::atomic<std::uint64_t> launches_{0};
  std::vector<std::unique_ptr<Listener>> detectors_;
  std::array<std::vector<Listener*>, 3> listeners_by_access_;  // by Accesses
};

}  // namespace inflight::check
