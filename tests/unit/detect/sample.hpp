// Sample findings for tests.
#pragma once
#include <string>

#include "gpu/check/finding/finding.hpp"

namespace inflight::check {

inline CodePlace place_at(std::uint32_t line, std::string source = {},
                          std::string file = "/home/me/copy.cu") {
  CodePlace place;
  place.kernel = "copy(float*)", place.mangled = "_Z4copyPf";
  place.file = std::move(file), place.line = line, place.column = 9, place.ptx_line = line * 3;
  place.module = "copy";
  place.instruction = "ld.shared.f32";
  place.source = std::move(source);
  return place;
}

inline Threads threads_of(std::uint32_t warp, Mask lanes) {
  Threads threads;
  threads.launch = 7, threads.stream = 3, threads.block_number = 1, threads.warp = warp;
  threads.block = {1, 0, 0}, threads.thread = {warp * 32, 0, 0}, threads.lanes = lanes;
  return threads;
}

// Every member has a different value.
inline Finding full_finding() {
  Finding f;
  f.kind = FindingKind::read_before_wait;
  f.sentence = "bytes are read that a cp.async may still be writing";
  f.here = {"reads 4 bytes", place_at(31, "  sum += tile[threadIdx.x];"),
            threads_of(2, 0xffffffff)};
  CodePlace copy = place_at(28, "  copy_async(tile, in);");
  copy.inlined_at = {{"/home/me/caller.cu", 40, 2}};
  copy.instruction = "cp.async.ca.shared.global", copy.function = "_Z10copy_asyncPfPKf";
  f.there = {{"issues a copy of 16 bytes", copy, threads_of(0, 1)}};
  f.there[0].threads->clustered = true, f.there[0].threads->rank = 3;
  f.bytes = Bytes{Space::shared, 1040, 4, "tile", 16};
  f.in_flight = {{"copies 16 bytes", copy, threads_of(0, 1)}};
  f.remedy = "cp.async.wait_group 0 before it";
  f.rule = "PTX ISA, cp.async.wait_group";
  Step step;
  step.what = Step::What::issued, step.time = 5, step.label = "cp.async 16 bytes", step.copy = 9;
  step.place = copy, step.threads = threads_of(0, 1), step.here = true;
  step.bytes = Bytes{Space::shared, 1040, 16, {}, 0};
  f.moment = {step};
  f.count = 64;
  f.replay = "--async shuffled:3";
  return f;
}

inline Finding finding_at(std::uint32_t line, std::string source = {}) {
  Finding f;
  f.kind = FindingKind::data_race;
  f.sentence = "two accesses race";
  f.here = {"reads", place_at(line, std::move(source)), threads_of(0, 1)};
  return f;
}

}  // namespace inflight::check
