#!/usr/bin/env bash
# docs/fidelity.md, to which docs/limits.md leads, names the subject of every refusal: the text
# before "is not supported", "are not supported" and "needs a GPU" in the software GPU's messages.
# Excepted are messages made of parts ('{}') or about a form of an instruction ("this form ..."),
# where the page names the instruction, and a status's own words ("functionality requested"), where
# it names the call.
. "$(dirname "$0")/lib.sh"
root=$here/../..
refused=$(tr -s '\n ' ' ' <"$root/docs/fidelity.md")
subjects=$(grep -rhoE --include='*.cpp' '"[^"{}]+ ((is|are) not supported|needs? a GPU)' "$root/gpu" |
  sed -E 's/^"//; s/ ((is|are) not supported|needs? a GPU)$//; s/^(an?|the) //; s/,$//; s/ \(.*//' | sort -u)
count=0
while read -r subject; do
  case $subject in 'this form'* | 'operation'* | 'vectors of this shape' | 'functionality requested') continue ;; esac
  count=$((count + 1))
  grep -qiF -- "$subject" <<<"$refused" || fail "docs/fidelity.md does not speak of: $subject"
done <<<"$subjects"
[ "$count" -ge 15 ] || fail "only $count subjects were found"
finish
