// A shared object whose symbol table resembles one with NVIDIA's static runtime. Each function
// returns a different number.
#define FUNCTION(name, value)                             \
  asm(".text\n"                                           \
      ".p2align 4\n"                                      \
      ".globl " name                                      \
      "\n"                                                \
      ".type " name ", @function\n" name                  \
      ":\n"                                               \
      "  mov $" value                                     \
      ", %eax\n"                                          \
      "  nop\n  nop\n  nop\n  nop\n  nop\n  nop\n  nop\n" \
      "  ret\n"                                           \
      ".size " name ", . - " name "\n")

FUNCTION("user_before", "1");
FUNCTION("cudaOfTheUser", "2");
FUNCTION("user_between", "3");
FUNCTION("__cudaRegisterFatBinary", "4");
FUNCTION("libcudart_static_0a1b2c3d4e0a1b2c3d4e0a1b2c3d4e0a1b2c3d4e", "5");
FUNCTION("cudaOfALaterRelease", "6");
FUNCTION("cudaMalloc", "7");
// Three bytes, like NVIDIA's.
asm(".p2align 4\n"
    ".globl __cudaGetProcAddress\n"
    ".type __cudaGetProcAddress, @function\n"
    "__cudaGetProcAddress:\n"
    "  xor %eax, %eax\n"
    "  ret\n"
    ".size __cudaGetProcAddress, . - __cudaGetProcAddress\n");
FUNCTION("libcudart_static_not_a_digest", "9");
FUNCTION("user_after", "10");
