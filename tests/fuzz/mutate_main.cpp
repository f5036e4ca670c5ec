// Runs a fuzz target without libFuzzer: every file of a corpus as it is, then mutated, the same way
// in every run. Usage: PROGRAM ROUNDS FILE...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// A target's own way to mutate, if it has one; as libFuzzer calls it.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                                                     std::size_t size,
                                                                     std::size_t most,
                                                                     unsigned seed);

namespace {

using Input = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

Input read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

std::size_t place(const Input& input, Random& random) { return random() % (input.size() + 1); }

void flip_bits(Input& input, Random& random) {
  for (int i = int(random() % 4) + 1; i > 0 && !input.empty(); --i) {
    input[random() % input.size()] ^= std::uint8_t(1u << random() % 8);
  }
}

// Numbers that sizes and offsets break on.
void plant_number(Input& input, Random& random) {
  static constexpr std::uint64_t numbers[] = {
      0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 1ull << 32, 1ull << 63, ~0ull};
  std::uint64_t number = numbers[random() % std::size(numbers)];
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
  input.resize(size + 4096);
  input.resize(LLVMFuzzerCustomMutator(input.data(), size, input.size(), unsigned(random())));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return std::fprintf(stderr, "usage: %s ROUNDS FILE...\n", arguments[0]), 2;
  long rounds = std::atol(arguments[1]), inputs = 0;
  for (int file = 2; file < count; ++file) {
    Input original = read_file(arguments[file]);
    Random random(original.size());
    LLVMFuzzerTestOneInput(original.data(), original.size());
    for (long round = 0; round < rounds; ++round, ++inputs) {
      Input input = original;
      LLVMFuzzerCustomMutator ? mutate_own(input, random) : mutate(input, random);
      LLVMFuzzerTestOneInput(input.data(), input.size());
    }
  }
  std::printf("%ld inputs, no crash\n", inputs);
  return 0;
}
