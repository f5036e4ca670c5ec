# Input: lines `WAY KERNEL SIZE SECONDS PROCESSOR_SECONDS right|wrong` of all rounds, and `WAY
# missing WHY...`. Ways on one thread count by processor time, which other load changes less. Ways
# on all threads count by wall-clock time.
# Output: rates by instructions.awk's counts, and the software GPU's speed relative to each other
# way.

function insert(list, value) { return list == "" ? value : list " " value }

function sorted(list, out,    n, i, j, t) {
  n = split(list, out, " ")
  for (i = 2; i <= n; ++i)
    for (j = i; j > 1 && out[j - 1] + 0 > out[j] + 0; --j) {
      t = out[j]; out[j] = out[j - 1]; out[j - 1] = t
    }
  return n
}

function rate(r) { return sprintf(r >= 99.5e9 ? "%.0f" : r >= 0.1e9 ? "%.2f" : "%.5f", r / 1e9) }
function ratio(r) { return sprintf(r >= 99.5 ? "%.0f" : r >= 0.995 ? "%.1f" : "%.3f", r) }

!($1 in seen) { seen[$1] = 1; ways[++way_count] = $1 }
$2 == "missing" { why = $0; sub(/^[^ ]+ missing /, "", why); missing[$1] = why; next }
$6 != "right" { wrong[$1, column_of($2, $3)] = 1; next }
{
  key = $1 SUBSEP column_of($2, $3)
  seconds = $1 ~ /_1$/ ? $5 : $4
  rates[key] = insert(rates[key], instructions($2, $3) / (seconds > 0 ? seconds : 1e-6))
}

function label(way) { gsub(/_/, " ", way); return way }

function header(first,    c) {
  printf "| %-28s |", first
  for (c = 1; c <= columns; ++c) printf " %-15s |", title[column[c]]
  printf "\n|%s|", "---"
  for (c = 1; c <= columns; ++c) printf "---|"
  printf "\n"
}

END {
  header("G thread-instructions a second: best (median)")
  for (w = 1; w <= way_count; ++w) {
    printf "| %-28s |", label(ways[w])
    if (ways[w] in missing) { print " " missing[ways[w]] " |"; continue }
    for (c = 1; c <= columns; ++c) {
      key = ways[w] SUBSEP column[c]
      n = sorted(rates[key], s)
      best[key] = n ? s[n] : 0
      cell = n ? rate(s[n]) " (" rate(s[int((n + 1) / 2)]) ")" : "failed"
      if ((ways[w], column[c]) in wrong) cell = "WRONG"
      printf " %-15s |", cell
    }
    printf "\n"
  }
  printf "\n"
  header("The software GPU is ... times as fast as")
  for (w = 1; w <= way_count; ++w) {
    if (ways[w] ~ /^inflight/ || ways[w] in missing) continue
    mine = ways[w] ~ /_1$/ ? "inflight_1" : "inflight_all"
    printf "| %-28s |", label(ways[w])
    for (c = 1; c <= columns; ++c) {
      a = best[mine, column[c]]; b = best[ways[w], column[c]]
      printf " %-15s |", a && b ? ratio(a / b) : "-"
    }
    printf "\n"
  }
}
