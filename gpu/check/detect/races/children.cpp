// A child launch knows what its launching thread knew, and all that the launches before it and
// their descendants did.
#include "gpu/check/detect/races/children.hpp"

namespace inflight::check::races {

void Children::launched(std::uint64_t child, const order::Knowledge& by) { launched_[child] = by; }

void Children::root(std::uint64_t launch, const order::Streams::Launch& began,
                    std::uint64_t stream) {
  families_[launch] = {0, stream, order::Streams::done(began)};
}

order::Streams::Launch Children::begin(std::uint64_t child, const LaunchOrigin& origin,
                                       std::uint64_t stream, order::Streams& streams) {
  order::Knowledge knows;
  if (auto launch = launched_.extract(child); !launch.empty()) knows = std::move(launch.mapped());
  for (const std::uint64_t front : origin.after)
    if (const auto found = families_.find(front); found != families_.end())
      knows.join(found->second.done);
  const auto parent = families_.find(origin.parent);
  if (origin.tail && parent != families_.end()) knows.join(parent->second.done);
  const order::Streams::Launch began = streams.child(stream, knows);
  const order::Knowledge done = order::Streams::done(began);
  for (auto up = parent; up != families_.end(); up = families_.find(up->second.parent))
    up->second.done.join(done);
  families_[child] = {origin.parent, stream, done};
  return began;
}

void Children::learnt(std::uint64_t launch, const order::Knowledge& more) {
  for (auto up = families_.find(launch); up != families_.end();
       up = families_.find(up->second.parent))
    up->second.done.join(more);
}

void Children::ended(std::uint64_t stream) {
  std::erase_if(families_, [&](const auto& each) { return each.second.stream == stream; });
}

}  // namespace inflight::check::races
