# Writes CUDA programs as one source: awk -v root=FOLDER -f cuda_together.awk PATH/NAME.cu... Each is in a namespace of its
# own, with the headers that it includes as "...", after the headers that any includes as <...>. `main` calls the one by
# whose name the program was started. Findings and faults name each program's own files and lines.
BEGIN {
  for (each = 1; each < ARGC; ++each) copy(ARGV[each], name_of(ARGV[each]), 0)
  print "#include <cstdio>\n#include <cstring>"
  for (each = 1; each < ARGC; ++each) {
    printf "namespace program_%s {\n", name_of(ARGV[each])
    macros = 0
    copy(ARGV[each], name_of(ARGV[each]), 1)
    for (; macros > 0; --macros) printf "#pragma pop_macro(\"%s\")\n", macro[macros]
    print "}"
  }
  print "int main(int argc, char** argv) {"
  print "  const char* const slash = std::strrchr(argv[0], '/');"
  print "  const char* const name = slash ? slash + 1 : argv[0];"
  for (each = 1; each < ARGC; ++each)
    printf "  if (!std::strcmp(name, \"%s\")) return %s;\n", name_of(ARGV[each]), call[each]
  print "  std::fprintf(stderr, \"%s: this name is of no program here\\n\", name);\n  return 2;\n}"
}

function name_of(path) {
  sub(/.*\//, "", path)
  sub(/\.cu$/, "", path)
  return path
}

# The file that `path` includes as "...": beside it, or from the repository's root.
function included(path, line,   file, beside, text) {
  split(line, file, "\"")
  beside = path
  sub(/[^\/]*$/, "", beside)
  beside = beside file[2]
  if ((getline text < beside) < 0) return root "/" file[2]
  close(beside)
  return beside
}

# Prints the includes as <...> of a file and of its headers (inside: 0), or the text (inside: 1).
function copy(path, program, inside,   line, words, number, in_main) {
  if ((program, inside, path) in seen) return
  seen[program, inside, path] = 1
  if (inside) printf "#line 1 \"%s\"\n", path
  while ((getline line < path) > 0) {
    ++number
    if (line ~ /^#include "/) {
      copy(included(path, line), program, inside)
      line = ""
      if (inside) printf "#line %d \"%s\"\n", number, path
    }
    if (!inside) {
      if (line ~ /^#include/) print line
      continue
    }
    if (line ~ /^#define /) {
      split(line, words, /[ (]/)
      macro[++macros] = words[2]
      printf "#pragma push_macro(\"%s\")\n#undef %s\n#line %d \"%s\"\n", words[2], words[2], number, path
    }
    # Other functions than the global main must return what they promise, so `return 0;` stands at its end.
    if (line ~ /^int main\(/) {
      call[each] = "program_" program "::run_program(" (line ~ /^int main\(\)/ ? "" : "argc, argv") ")"
      sub(/^int main/, "int run_program", line)
      in_main = 1
    }
    if (in_main && line ~ /^[^ ].*}$|^}$/) {
      sub(/}$/, "return 0; }", line)
      in_main = 0
    }
    print line == "#pragma once" ? "" : line
  }
  close(path)
}
