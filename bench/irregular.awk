# Input: lines `run<tab>LINE` and `check<tab>LINE`, where LINE is one of workload.hpp's. Output: for
# each kernel, how many times the processor time of `run` the checker takes at each size, and how
# its time grows from the first size to the last, relative to the size.

BEGIN { FS = "\t" }

split($2, word, " ") == 6 {
  name = word[1]
  size = word[2]
  if (!(name in sizes)) by[++kernels] = name
  if (!((name, size) in known)) of[name, ++sizes[name]] = size
  known[name, size] = 1
  if (!(($1, name, size) in time) || word[4] < time[$1, name, size]) time[$1, name, size] = word[4]
  if (word[5] == "wrong") wrong[name] = 1
}

END {
  print "| ratio of check to run, by threads |",
        of[by[1], 1], "|", of[by[1], 2], "|", of[by[1], 3], "| check grows, relative to the size |"
  print "|---|---|---|---|---|"
  for (k = 1; k <= kernels; ++k) {
    name = by[k]
    printf "| %s%s |", name, wrong[name] ? ", WRONG" : ""
    for (i = 1; i <= sizes[name]; ++i) {
      run = time["run", name, of[name, i]]
      check = time["check", name, of[name, i]]
      printf run && check ? " %.1f |" : " failed |", run ? check / run : 0
    }
    first = of[name, 1]
    last = of[name, sizes[name]]
    begin = time["check", name, first]
    printf " %.1f |\n", begin ? time["check", name, last] / begin / (last / first) : 0
  }
}
