// Every form of the tensor cores' instructions on sm_90: its PTX text and its operands.
#pragma once
#include <string>
#include <vector>

#include "numbers.hpp"

enum class Kind { mma, wmma, wgmma };

struct Form {
  Kind kind;
  std::string name;         // the instruction, followed by its operands' immediates
  std::string instruction;  // as PTX text
  Format a, b, c, d;
  int a_words, b_words, c_words, d_words;  // 32-bit registers per lane; for wmma, per matrix
  // mma.sp, wgmma.mma_async.sp
  bool sparse = false, ordered = false,
       halves = false;  // `halves`: one of two elements, as in tf32
  int selector = 0;
  // wmma
  std::string shape, a_layout, b_layout, type_a, type_b, type_c, type_d;
  int m = 0, n = 0, k = 0;
  // wgmma
  bool a_in_registers = false, scale_d = true;
  int swizzle = 0;         // the descriptors' layout type: 0 none, 1 128 B, 2 64 B, 3 32 B
  bool anywhere = false;   // descriptors with any start and base offset
  std::string immediates;  // after the predicate
};

std::vector<Form> all_forms();
