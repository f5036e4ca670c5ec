# Input: lines `WAY N ROUND KERNEL SIZE SECONDS PROCESSOR_SECONDS right|wrong MEDIAN_SECONDS`. For
# the way `programs`, N programs ran at once. Output: rates by instructions.awk's counts, and their
# ratio to the rate of one worker.

# Launches of 2^20 keys take 16 times as long as those of 2^16.
BEGIN {
  column[++columns] = "bitonic_large"
  title["bitonic"] = "bitonic 2^16"; title["bitonic_large"] = "bitonic 2^20"
}

!($2 in seen) { seen[$2] = 1; counts[++count] = $2 }
{
  c = column_of($4, $5)
  if ($8 != "right") wrong[$1, c, $2] = 1
  if ($1 == "native") { rate = 12 * $5 / $9; unit = $1 }  # bytes read and written
  else rate = instructions($4, $5) / $9
  sum[$1, c, $2, $3] += rate
  if (sum[$1, c, $2, $3] > best[$1, c, $2]) best[$1, c, $2] = sum[$1, c, $2, $3]
}

function row(label, way, c,    n, r) {
  printf "| %-40s |", label
  for (n = 1; n <= count; ++n) {
    r = best[way, c, counts[n]]
    if ((way, c, counts[n]) in wrong) printf " %-14s |", "WRONG"
    else printf " %-14s |", sprintf(r < 99.5e9 ? "%.2f (%.1f)" : "%.0f (%.1f)", r / 1e9, r / best[way, c, counts[1]])
  }
  printf "\n"
}

END {
  printf "| %-40s |", "10^9 thread-instructions a second"
  for (n = 1; n <= count; ++n) printf " %-14s |", counts[n]
  printf "\n|---|"
  for (n = 1; n <= count; ++n) printf "---|"
  printf "\n"
  for (i = 1; i <= columns; ++i) {
    row(title[column[i]] ", workers", "workers", column[i])
    row(title[column[i]] ", programs of one worker", "programs", column[i])
  }
  if (("native", "saxpy", counts[1]) in best) row("saxpy in C++, 10^9 bytes, threads", "native", "saxpy")
}
