// Runs a fuzz target without libFuzzer on every file of a corpus, first unchanged and then mutated,
// the same way in every run. An input that ends the process, or takes longer than 20 seconds, is
// written to a file and described.
// Usage: PROGRAM ROUNDS FILE...  FUZZ_SECONDS in the environment ends the rounds after this time.
// FUZZ_SEED, a number, gives other mutations.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/reporting.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// A target's own mutator, if it has one, with libFuzzer's signature.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                                                     std::size_t size,
                                                                     std::size_t most,
                                                                     unsigned seed);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());
// A target that allocates all of the host's memory ends with a report and does not exhaust the
// host.
extern "C" __attribute__((used, visibility("default"))) const char* __asan_default_options() {
  return "hard_rss_limit_mb=4096:max_allocation_size_mb=4096:detect_leaks=0:handle_abort=1";
}
extern "C" __attribute__((used, visibility("default"))) const char* __ubsan_default_options() {
  return "print_stacktrace=1:abort_on_error=1";
}

namespace {

using Input = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

constexpr unsigned patience = 20;  // seconds per input

const char* program = "";
const char* file = "";
const Input* current = nullptr;
long round_number = 0;

void keep(const char* path) {
  const int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (out < 0) return;
  const auto size = static_cast<ssize_t>(current->size());
  if (write(out, current->data(), current->size()) != size) std::perror(path);
  close(out);
}

void tell_failing_input() {
  if (!current) return;
  const char* name = std::strrchr(program, '/');
  const std::string path = std::string(name ? name + 1 : program) + ".failed";
  keep(path.c_str());
  std::fprintf(stderr, "%s: %s, round %ld; again with: %s 0 %s\n", program, file, round_number,
               program, path.c_str());
  if (!inflight::fuzz::running().empty())
    std::fprintf(stderr, "%s\n", inflight::fuzz::running().c_str());
  current = nullptr;
}

void on_signal(int number) {
  std::fprintf(stderr, number == SIGALRM ? "an input takes longer than %u seconds\n" : "signal\n",
               patience);
  tell_failing_input();
  _exit(number == SIGALRM ? 124 : 125);
}

// Under a sanitizer, the sanitizer handles crashes first.
void watch() {
  if (__sanitizer_set_death_callback) {
    __sanitizer_set_death_callback(tell_failing_input);
  } else {
    for (int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) std::signal(number, on_signal);
  }
  std::signal(SIGALRM, on_signal);
}

void run(const Input& input) {
  current = &input;
  inflight::fuzz::running().clear();
  alarm(patience);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  alarm(0);
  current = nullptr;
}

Input read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::size_t place(const Input& input, Random& random) { return random() % (input.size() + 1); }

void flip_bits(Input& input, Random& random) {
  for (int i = int(random() % 4) + 1; i > 0 && !input.empty(); --i) {
    input[random() % input.size()] ^= std::uint8_t(1u << random() % 8);
  }
}

void plant_number(Input& input, Random& random) {
  const std::uint64_t number =
      inflight::fuzz::extremes[random() % std::size(inflight::fuzz::extremes)];
  std::size_t at = place(input, random), width = std::size_t{1} << random() % 4;
  for (std::size_t i = 0; i < width && at + i < input.size(); ++i) {
    input[at + i] = std::uint8_t(number >> 8 * i);
  }
}

void cut(Input& input, Random& random) { input.resize(place(input, random)); }

void repeat_part(Input& input, Random& random) {
  std::size_t from = place(input, random), to = place(input, random);
  if (from > to) std::swap(from, to);
  Input part(input.begin() + std::ptrdiff_t(from),
             input.begin() + std::ptrdiff_t(std::min(to, from + 4096)));
  input.insert(input.begin() + std::ptrdiff_t(place(input, random)), part.begin(), part.end());
}

void mutate(Input& input, Random& random) {
  static constexpr void (*ways[])(Input&, Random&) = {flip_bits, plant_number, plant_number, cut,
                                                      repeat_part};
  for (int i = int(random() % 3) + 1; i > 0; --i) ways[random() % std::size(ways)](input, random);
}

void mutate_own(Input& input, Random& random) {
  const std::size_t size = input.size();
  input.resize(2 * size + 4096);
  input.resize(LLVMFuzzerCustomMutator(input.data(), size, input.size(), unsigned(random())));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return std::fprintf(stderr, "usage: %s ROUNDS FILE...\n", arguments[0]), 2;
  program = arguments[0];
  watch();
  const long rounds = std::atol(arguments[1]);
  const char* const seconds = std::getenv("FUZZ_SECONDS");
  using Clock = std::chrono::steady_clock;
  const auto end =
      seconds ? Clock::now() + std::chrono::seconds(std::atol(seconds)) : Clock::time_point::max();
  // Another number gives other inputs.
  const char* const seed_text = std::getenv("FUZZ_SEED");
  const auto number = static_cast<std::size_t>(seed_text ? std::atol(seed_text) : 0);
  long inputs = 0;
  struct Seed {
    const char* path;
    Input bytes;
    Random random;
  };
  std::vector<Seed> seeds;
  for (int i = 2; i < count; ++i) {
    Input bytes = read_file(arguments[i]);
    const std::size_t size = bytes.size();
    seeds.push_back({arguments[i], std::move(bytes), Random(size + (number << 32))});
  }
  for (round_number = 0; round_number <= rounds && Clock::now() < end; ++round_number) {
    for (Seed& seed : seeds) {
      file = seed.path;
      Input input = seed.bytes;
      if (round_number > 0)
        LLVMFuzzerCustomMutator ? mutate_own(input, seed.random) : mutate(input, seed.random);
      run(input);
      ++inputs;
    }
  }
  std::printf("%ld inputs, no crash", inputs);
  for (const auto& [what, times] : inflight::fuzz::tallies())
    std::printf("; %s %ld", what.c_str(), times);
  std::printf("\n");
  return 0;
}
