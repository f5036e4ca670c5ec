// Places with the same visible text are interned as one.
#include "gpu/check/finding/places.hpp"

#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <mutex>

#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

Extents index_in(const Extents& shape, std::uint64_t linear) {
  return {static_cast<std::uint32_t>(linear % shape.x),
          static_cast<std::uint32_t>(linear / shape.x % shape.y),
          static_cast<std::uint32_t>(linear / shape.x / shape.y)};
}

std::string normal(std::string_view file) {
  return std::filesystem::path(file).lexically_normal().string();
}

std::atomic<std::uint64_t> made{0};

}  // namespace

Places::Places() : self_(++made) {}

void Places::begin(const Kernel& kernel) {
  auto launch = std::make_unique<Launch>();
  launch->kernel = &kernel;
  const std::unique_lock lock(mutex_);
  launches_[kernel.launch] = std::move(launch);
}

void Places::end(const Kernel& kernel) {
  const std::unique_lock lock(mutex_);
  launches_.erase(kernel.launch);
  ended_.fetch_add(1);
}

Places::Launch::~Launch() {
  for (const auto& chunk : chunks) delete chunk.load();
}

std::atomic<PlaceId>* Places::Launch::slot(std::uint32_t instruction) {
  const std::uint32_t number = instruction >> chunk_bits;
  if (number >= chunk_count) return nullptr;
  Chunk* chunk = chunks[number].load();
  if (!chunk) {
    auto fresh = std::make_unique<Chunk>();
    if (chunks[number].compare_exchange_strong(chunk, fresh.get())) chunk = fresh.release();
  }
  return &(*chunk)[instruction % chunk->size()];
}

namespace {

struct LastLaunch {
  std::uint64_t places = 0, launch = 0, ended = 0;
  void* found = nullptr;
};

// Not inlined, so that what the thread keeps is found once: in a library that is a call.
[[gnu::noinline]] LastLaunch& last_launch() {
  thread_local LastLaunch last;
  return last;
}

}  // namespace

// Each host thread caches its last launch, as calls are mostly for the same one. It uses the cached
// pointer until some launch ends.
Places::Launch* Places::find(std::uint64_t launch) const {
  LastLaunch& last = last_launch();
  if (last.found && last.places == self_ && last.launch == launch && last.ended == ended_.load())
    return static_cast<Launch*>(last.found);
  const std::shared_lock lock(mutex_);
  const auto found = launches_.find(launch);
  if (found == launches_.end()) return nullptr;
  last = {self_, launch, ended_.load(), found->second.get()};
  return found->second.get();
}

const Kernel* Places::kernel(std::uint64_t launch) const {
  const Launch* const found = find(launch);
  return found ? found->kernel : nullptr;
}

PlaceId Places::of(const Who& who) {
  if (who.instruction == nothing) return no_place;
  Launch* const launch = find(who.launch);
  std::atomic<PlaceId>* const slot = launch ? launch->slot(who.instruction) : nullptr;
  if (!slot) return no_place;
  if (const PlaceId id = slot->load()) return id;
  const Kernel& kernel = *launch->kernel;
  const Instruction in = kernel.describe(kernel, who.instruction);
  CodePlace place;
  place.kernel = readable(kernel.name);
  place.mangled = kernel.name;
  if (in.function != kernel.name) place.function = in.function;
  if (!in.file.empty()) place.file = normal(in.file);
  place.line = in.line, place.column = in.column;
  for (const SourceLine& each : in.inlined_at)
    place.inlined_at.push_back({normal(each.file), each.line, each.column});
  place.ptx_line = in.ptx_line;
  place.module = in.module;
  place.instruction = in.text;
  place.act = in.act;
  const PlaceId id = intern(std::move(place));
  slot->store(id);
  return id;
}

PlaceId Places::of_host(std::string_view call) {
  CodePlace place;
  place.instruction = call;
  return intern(std::move(place));
}

PlaceId Places::intern(CodePlace place) {
  // One source line may have many instructions, for example in an unrolled loop.
  std::string key =
      fmt::format("{}\n{}\n{}\n{}:{}:{}\n{}", place.mangled, place.function, place.file, place.line,
                  place.column, place.file.empty() ? place.ptx_line : 0, place.instruction);
  std::string line_key =
      fmt::format("{}\n{}\n{}\n{}", place.mangled, place.function, place.file, place.line);
  for (const CodeLine& each : distinct_calls(place)) {
    key += fmt::format("\n{}:{}:{}", each.file, each.line, each.column);
    line_key += fmt::format("\n{}:{}", each.file, each.line);
  }
  if (place.file.empty()) key += '\n' + place.module;
  const std::unique_lock lock(mutex_);
  const auto [found, added] = ids_.try_emplace(key, static_cast<PlaceId>(places_.size()));
  if (added) {
    PlaceId line = found->second;
    if (!place.file.empty()) line = line_ids_.try_emplace(line_key, line).first->second;
    lines_.push_back(line);
    places_.push_back(std::move(place));
  }
  return found->second;
}

PlaceId Places::line_of(PlaceId id) const {
  const std::shared_lock lock(mutex_);
  return lines_[id];
}

const CodePlace& Places::at(PlaceId id) const {
  const std::shared_lock lock(mutex_);
  return places_[id];
}

Threads Places::threads(const Who& who) const {
  Threads threads;
  threads.launch = who.launch;
  threads.block_number = who.block;
  threads.warp = who.warp;
  threads.lanes = who.mask;
  const Kernel* const kernel = this->kernel(who.launch);
  if (!kernel) return threads;
  threads.stream = kernel->stream;
  threads.device = kernel->device;
  threads.block = index_in(kernel->grid, who.block);
  const auto first = static_cast<std::uint32_t>(who.mask ? std::countr_zero(who.mask) : 0);
  threads.thread = index_in(kernel->block, std::uint64_t{who.warp} * lanes + first);
  const Extents& cluster = kernel->cluster;
  threads.clustered = cluster.x * cluster.y * cluster.z > 1;
  if (threads.clustered)
    threads.rank = static_cast<std::uint16_t>(
        threads.block.x % cluster.x +
        cluster.x * (threads.block.y % cluster.y + cluster.y * (threads.block.z % cluster.z)));
  return threads;
}

Party Places::party(const Who& who, std::string did) {
  return {std::move(did), at(of(who)), threads(who)};
}

Bytes Places::bytes(const Who& who, Space space, std::uint64_t address, std::uint64_t count) const {
  Bytes bytes{space, address, count, {}, 0};
  const Kernel* const kernel = this->kernel(who.launch);
  if (!kernel || !kernel->variable) return bytes;
  const Variable variable = kernel->variable(*kernel, space, address, who.instruction);
  if (variable.name.empty()) return bytes;
  bytes.variable = variable.name;
  bytes.offset = address - variable.address;
  return bytes;
}

}  // namespace inflight::check
