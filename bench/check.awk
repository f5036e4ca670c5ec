# Input: lines `WAY<tab>LINE` from the programs of bench/check: the lines of workload.hpp, those of
# bench_copies, and for the way `stats` the output of --stats, which has each kernel's instructions.
# Output: rates by processor time, and the checker's share of that time.

BEGIN { FS = "\t" }

function best(way, kernel, seconds) {
  if (!((way, kernel) in time) || seconds < time[way, kernel]) time[way, kernel] = seconds
}
function seen(kernel, name) {
  if (kernel in order) return
  order[kernel] = ++kernels
  by[kernels] = kernel
  label[kernel] = name
}

$1 == "stats" {
  if (match($2, / [0-9]+ launch/)) {
    split(substr($2, RSTART), word, " ")
    launches = word[1]
    name = substr($2, 1, RSTART - 1)
    sub(/^\(anonymous namespace\)::/, "", name)
    sub(/[(<].*/, "", name)
    sub(/^.*::/, "", name)
  }
  if ($2 ~ /^    all /) {
    split($2, word, " ")
    gsub(/,/, "", word[3])
    executed[name] = word[3] / launches
  }
  next
}
# KERNEL SIZE SECONDS PROCESSOR right SECONDS
split($2, word, " ") == 6 && word[5] ~ /^(right|wrong)$/ {
  kernel = word[1] SUBSEP word[2]
  if ($1 == "oclgrind") {
    if (word[4] > 0) small[column_of(word[1], word[2])] = instructions(word[1], word[2]) / word[4]
    next
  }
  in_engine = word[1] ~ /^(saxpy|sgemm|reduce|bitonic)$/
  seen(kernel, in_engine ? title[column_of(word[1], word[2])] : word[1])
  column_for[kernel] = column_of(word[1], word[2])
  count[kernel] = in_engine ? instructions(word[1], word[2]) : executed[word[1]]
  best($1, kernel, word[4])
  if (word[5] == "wrong") wrong[kernel] = 1
}
/ ns a KiB / {
  name = substr($2, 1, 20)
  gsub(/ +$/, "", name)
  split($2, word, /right|WRONG/)
  split(word[2], word, " ")
  seen(name, name)
  count[name] = executed[name == "bulk" ? "bulk" : name ~ /^tensor/ ? "tensor" : "ampere"]
  best($1, name, word[1] * 65536e-9)
  if ($2 ~ /WRONG/) wrong[name] = 1
}

END {
  print "| | run, 10^9 instructions per second | check | ratio | Oclgrind's checks | check is ... times as fast |"
  print "|---|---|---|---|---|---|"
  for (k = 1; k <= kernels; ++k) {
    kernel = by[k]
    run = time["run", kernel]
    check = time["check", kernel]
    if (!run || !check) { printf "| %s | failed | | | | |\n", label[kernel]; continue }
    other = small[column_for[kernel]]
    printf "| %s%s | %.2f | %.2f | %.1f | %s | %s |\n", label[kernel], wrong[kernel] ? ", WRONG" : "",
           count[kernel] / run / 1e9, count[kernel] / check / 1e9, check / run,
           other ? sprintf("%.5f", other / 1e9) : "", other ? sprintf("%.0f", count[kernel] / check / other) : ""
  }
}
