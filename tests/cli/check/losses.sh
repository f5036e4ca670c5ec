#!/usr/bin/env bash
# inflight check and merge where files cannot be written or read: what was found is kept, or a sentence
# and the exit status say that it is not. losses.sh INFLIGHT PROGRAM
. "$(dirname "$0")/../lib.sh"
program=$2
lib=$(dirname "$(dirname "$inflight")")/lib
cd "$work" || exit 1

# --- temporary files ---
expect "no such TMPDIR" 86 '^inflight: 1 finding, seen 64 times' env TMPDIR=/no/such/folder "$inflight" check "$program" arrive
expect "a TMPDIR that is a file" 86 '^inflight: 1 finding, seen 64 times' env TMPDIR="$0" "$inflight" check "$program" arrive
expect "an empty TMPDIR" 86 '^inflight: 1 finding, seen 64 times' env TMPDIR= "$inflight" check "$program" arrive
expect "TMPDIR with a colon" 86 '^inflight: 1 finding, seen 64 times' env TMPDIR="$work/a:b" "$inflight" check "$program" arrive

# Full from the start, and with room for a few bytes. Mounting needs rights that not every host gives.
full='mkdir -p full && mount -t tmpfs -o size=8k,nr_inodes=0 none full && head -c "$1" /dev/zero >full/filler; shift; exec "$@"'
if unshare -m sh -c 'mkdir -p full && mount -t tmpfs none full' 2>/dev/null; then
  for bytes in 4000 8192; do
    expect "a full TMPDIR" 86 '^inflight: 2 findings, seen 65 times' unshare -m sh -c "$full" sh $bytes \
      env TMPDIR="$work/full" "$inflight" check --report "$work/full.json" "$program" arrive expect
    [ "$(grep -c '"fingerprint"' "$work/full.json")" = 2 ] || fail "the report lost something: $(cat "$work/full.json")"
  done
  # No folder for temporary files has room.
  everywhere='for each in /tmp /dev/shm /var/tmp; do mount -t tmpfs -o size=4k,nr_inodes=0 none $each; head -c 4096 /dev/zero >$each/filler; done; cd /dev/shm; exec "$@"'
  case $inflight$program in
    /tmp/* | /var/tmp/* | /dev/shm/*) ;;
    *)
      expect "all full" 86 'cannot be kept for .inflight check. and is shown only here' \
        env -u TMPDIR -u XDG_RUNTIME_DIR unshare -m sh -c "$everywhere" sh "$inflight" check "$program" arrive
      grep -q '^inflight: what process [0-9]* found could not be kept' <<<"$output" || fail "the command does not know: $output"
      grep -q 'nothing was checked\|: nothing found' <<<"$output" && fail "lost findings are called nothing: $output"
      expect "all full, and nothing to find" 1 'cannot be kept for .inflight check.' \
        env -u TMPDIR -u XDG_RUNTIME_DIR unshare -m sh -c "$everywhere" sh "$inflight" check "$program" right
      ;;
  esac
fi

# A limit on the size of files: one finding fits, the others do not.
expect "limited files" 86 '^inflight: [0-9]+ findings? could not be kept and will be in no report' \
  "$inflight" check --report "$work/limited.json" sh -c "ulimit -f 4; exec '$program' arrive expect"
grep -q ': nothing found' <<<"$output" && fail "lost findings are called nothing: $output"
expect "limited files of a program that fails at nothing" 1 '^inflight: what process [0-9]+ found could not be kept' \
  "$inflight" check sh -c "ulimit -f 0; '$program' right; true"

# Descriptors that the program closed, and whose numbers are now its own file's.
expect "closed descriptors" 86 '^inflight: 1 finding, seen 64 times' "$inflight" check --report "$work/closed.json" "$program" right close arrive
[ -s own.dat ] && fail "the program's file got: $(head -c 100 own.dat)"
grep -q barrier-misuse "$work/closed.json" || fail "the report lost the finding"

# The program removes temporary files.
mkdir "$work/removed"
expect "removed files" 1 'findings may be lost: the folder' env TMPDIR="$work/removed" \
  "$inflight" check sh -c "'$program' arrive; rm -rf '$work/removed'; exit 0"

# Processes of other users.
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$program" 2>/dev/null; then
  expect "another user" 86 '^inflight: 1 finding, seen 64 times' "$inflight" check --report "$work/user.json" \
    sh -c "setpriv --reuid 65534 --regid 65534 --clear-groups '$program' arrive; true"
  grep -q barrier-misuse "$work/user.json" || fail "the other user's finding is lost"
fi

# --- reports ---
expect "a report" 86 '' "$inflight" check --report "$work/old.json" "$program" arrive
cp "$work/old.json" "$work/copy.json"
expect "a report without room" 1 "could not be written to '.*/old.json': File too large; the file that was there is kept" \
  sh -c 'ulimit -f 1; exec "$@"' sh "$inflight" merge "$work/old.json" "$work/copy.json" "$work/copy.json"
cmp "$work/old.json" "$work/copy.json" || fail "the old report is gone"
ls "$work"/old.json?* 2>/dev/null && fail "a part of a report remains"
expect "in the process, no room" 1 'could not be written to' env INFLIGHT_CHECK=1 INFLIGHT_REPORT=/no/such.json \
  LD_LIBRARY_PATH="$lib" "$program" right
expect "statistics without room" 1 "the statistics could not be written to '/no/such.json': No such file" \
  "$inflight" run --stats=/no/such.json "$program" right

# --- foreign files ---
mkdir "$work/folder.json"
mkfifo "$work/pipe.json"
for shape in '1' '[]' '{"runs": 1}' '{"runs": [1]}' '{"runs": [{"results": [1]}]}'; do
  echo "$shape" >"$work/bad.sarif"
  expect "merge $shape" 1 "^inflight: '.*/bad.sarif': " timeout 20 "$inflight" merge "$work/out.json" "$work/bad.sarif"
  expect "baseline $shape" 2 "^inflight: '.*/bad.sarif': " timeout 20 "$inflight" check --baseline "$work/bad.sarif" "$program" arrive
  expect "baseline $shape by variable" 2 "^inflight: '.*/bad.sarif': " timeout 20 env INFLIGHT_CHECK=1 \
    INFLIGHT_BASELINE="$work/bad.sarif" LD_LIBRARY_PATH="$lib" "$program" arrive
done
for file in folder pipe; do
  expect "merge a $file" 1 "/$file.json' is .*a $file" timeout 20 "$inflight" merge "$work/out.json" "$work/$file.json"
  for option in baseline suppressions; do
    expect "$option of a $file" 2 "/$file.json' is .*a $file" timeout 20 \
      "$inflight" check --$option "$work/$file.json" "$program" arrive
  done
done

# --- what is shown ---
# A report may name any file. Its lines are shown only if the user may have meant it.
mkdir "$work/secrets"
echo 'the secret line' >"$work/secrets/file"
sed -e "s|\"file\": \".*mistakes.cu\"|\"file\": \"$work/secrets/file\"|" -e 's/"line": [0-9]*/"line": 1/' \
  -e 's/"source": ".*"/"source": ""/' "$work/copy.json" >"$work/names.json"
mkdir "$work/elsewhere"
expect "merge" 0 '' env -C "$work/elsewhere" "$inflight" merge "$work/page.html" "$work/names.json"
grep -q 'the secret line' "$work/page.html" && fail "a page shows a file that a report names"
expect "merge, with the folder named" 0 '' env -C "$work/elsewhere" "$inflight" merge --source-root "$work" \
  --source-root "$work/secrets" "$work/page.html" "$work/names.json"
grep -q 'the secret line' "$work/page.html" || fail "a page lacks a file that the user named"

# Names that a terminal would obey.
printf '{"version": 1, "findings": [{"kind": "leak", "sentence": "x\\u001b]0;y\\u0007\\u009b31m", "there": [], "count": 1,
  "here": {"did": "z", "at": {"kernel": "k\\u001b", "file": "\\u001b[31m.cu", "line": 1}}}]}' >"$work/escapes.json"
expect "merge" 0 '' "$inflight" merge "$work/escapes.html" "$work/escapes.json"
grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$work/escapes.html" && fail "a page has control characters"
cp "$work/escapes.json" $'bad\033[31m.json'
echo '{' >$'bad\033[31m.json'
expect "a file's name" 1 '^inflight: .bad\\x1b\[31m.json. is not JSON' "$inflight" merge "$work/out.json" $'bad\033[31m.json'
finish
