// A library whose many addresses keep the loader busy, and that calls a function which the checker
// replaces.
#include <cstdio>

#define FOUR(x) x, x, x, x
extern "C" {
int slow_value = 0;
// The loader writes each.
extern int* const slow_table[];
int* const slow_table[] = {FOUR(FOUR(FOUR(FOUR(FOUR(FOUR(FOUR(FOUR(&slow_value))))))))};
void slow_put(const char* text) { std::fputs(text, stderr); }
}
