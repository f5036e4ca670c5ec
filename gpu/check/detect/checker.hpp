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
  // What a program calls memory that its PTX has no name for; for a finding's bytes.
  using NameMemory = std::function<void(Bytes&)>;
  Checker(const CheckOptions& options, Findings::OnNew on_new, NameMemory name_memory = {});
  const Findings& findings() const { return findings_; }
  std::uint64_t launches() const { return launches_.load(std::memory_order_relaxed); }

  // Which accesses a detector is told of.
  enum class Accesses : std::uint8_t { every, strong, write, none };
  void accessed(const Access&) override;

  // Names last from before the first event of a launch to after its last.
  void kernel_begin(const KernelBegin&) override;
  void kernel_end(const KernelEnd&) override;
  // So does what its blocks did.
  void block_end(const BlockEnd&) override;

 private:
  Places places_;
  Findings findings_;
  SourceFiles sources_;
  History history_{places_};
  std::atomic<std::uint64_t> launches_{0};
  std::vector<std::unique_ptr<Listener>> detectors_;
  std::array<std::vector<Listener*>, 3> hearers_;  // by Accesses
};

}  // namespace inflight::check
