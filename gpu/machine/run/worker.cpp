// Where host threads keep their workers between launches.
#include "gpu/machine/run/worker.hpp"

#include <utility>

#include "gpu/host/of_this_thread.hpp"

namespace inflight::machine {
namespace {

struct KeptWorker {
  std::unique_ptr<Worker> worker;
};
std::unique_ptr<Worker>& kept_worker() { return host::of_this_thread<KeptWorker>().worker; }

}  // namespace

void Worker::begin_launch() {
  for (unsigned i = 0; i < used_count_; ++i) cache_[used_[i]].generation = 0;
  used_count_ = 0;
}

WorkerOfThread::WorkerOfThread() : worker_(std::move(kept_worker())) {
  if (!worker_) worker_ = std::make_unique<Worker>();
  worker_->begin_launch();
}

WorkerOfThread::~WorkerOfThread() { kept_worker() = std::move(worker_); }

}  // namespace inflight::machine
