#!/usr/bin/env bash
# inflight swizzle: layouts recorded on an H200, conflicts that can be counted by hand, pictures.
. "$(dirname "$0")/lib.sh"
# tables NAME MODE TYPE BOX: the two tables, one line per row, columns only.
tables() {
  "$inflight" swizzle --mode "$1" --type "$2" --box "$3" | sed -n '/^by rows/,/^$/p' | sed '1d;$d' |
    sed -E 's/^row +[0-9]+ *//; s/ +/ /g'
}
banks() {
  "$inflight" swizzle --mode "$1" --type "$2" --box "$3" | sed -n '/^by banks/,/^$/p' | sed '1,2d;$d' |
    sed -E 's/^rows? [0-9-]+ +//; s/ +/ /g'
}
same() {
  local name=$1 wanted=$2 got=$3
  [ "$got" = "$wanted" ] || fail "$name: wanted"$'\n'"$wanted"$'\n'"got"$'\n'"$got"
}

plain8='0 1 2 3 4 5 6 7' turned8='4 5 6 7 0 1 2 3'
same "32B, rows of 8" "$(for i in 1 2; do printf "$plain8\n%.0s" 1 2 3 4; printf "$turned8\n%.0s" 1 2 3 4; done)" \
  "$(tables 32B f32 16x8)"
same "32B, banks" "$(for i in 1 2; do
  echo "$plain8 $plain8 $plain8 $plain8"
  echo "$turned8 $turned8 $turned8 $turned8"
done)" "$(banks 32B f32 16x8)"
same "no swizzle, banks" "$(for i in 1 2 3 4; do echo "$plain8 $plain8 $plain8 $plain8"; done)" \
  "$(banks none f32 16x8)"
same "64B, banks" "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11
8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7
12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3" "$(banks 64B f32 8x16)"
gap='. . . . . . . . . . . . . . . .'
same "128B, a box narrower than the span" "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 $gap
4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 $gap
8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 $gap
12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3 $gap
$gap 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15" "$(tables 128B f32 5x16)"
same "small elements by chunks" "0-7 8-15
0-7 8-15
0-7 8-15
0-7 8-15
8-15 0-7" "$(tables 32B f16 5x16)"
same "a wide element lies in two banks" "2 2 3 3 0 0 1 1 6 6 7 7 4 4 5 5 10 10 11 11 8 8 9 9 14 14 15 15 12 12 13 13" \
  "$(banks 128B f64 2x16 | sed -n 2p)"

# By hand: without a swizzle, a column of 128-byte rows is in one bank, and a tile's eight rows
# share four. 128B spreads eight rows over all banks and leaves four rows of 32 in each.
expect "conflicts" 0 '^  none  32 instead of 1 +1 free +16 instead of 2 +128 bytes$' \
  "$inflight" swizzle --box 32x32
expect "conflicts of 128B" 0 '^  128B  4 instead of 1 +1 free +2 free +1024 bytes$' \
  "$inflight" swizzle --box 32x32
expect "a mode that is too narrow" 0 '^  64B +a row of 128 bytes is wider than the 64 of mode 64B: at most 16 columns of f32$' \
  "$inflight" swizzle --box 32x32
expect "a tile of halves" 0 '^  128B .* 1 free +1024 bytes$' "$inflight" swizzle --type bf16 --box 64x64

expect "a row needs no swizzle" 0 '^none: row is read without bank conflicts; align the shared memory to 128 bytes' \
  "$inflight" swizzle --box 32x32 --suggest row
expect "a tile needs one" 0 '^128B: tile is read without bank conflicts; align the shared memory to 1024 bytes \(8 rows of 128\)' \
  "$inflight" swizzle --type bf16 --box 64x64 --suggest tile
expect "the smallest that will do" 0 '^32B: tile .* align the shared memory to 256 bytes \(8 rows of 32\)' \
  "$inflight" swizzle --type bf16 --box 64x16 --suggest tile
expect "lanes and elements of one's own" 0 '^128B: 8x1x4 is read without bank conflicts' \
  "$inflight" swizzle --box 32x32 --suggest 8x1x4
expect "none will do" 0 '^no mode reads column without bank conflicts; 128B has the fewest, 4 passes instead of 1' \
  "$inflight" swizzle --box 32x32 --suggest column
expect "a box that no mode takes" 0 'several narrower boxes may do better' \
  "$inflight" swizzle --box 32x64 --suggest column

expect "a picture" 0 'The picture is in ' "$inflight" swizzle --box 16x32 --svg "$work/box.svg"
[ "$(grep -c '<rect' "$work/box.svg")" = $((16 * 32 + 1)) ] || fail "a square a bank in the picture"
if command -v xmllint >/dev/null; then xmllint --noout "$work/box.svg" || fail "the picture is XML"; fi
expect "nowhere to draw" 1 'cannot be written' "$inflight" swizzle --svg "$work/no/box.svg"
case $output in *$'\033'*) fail "colours away from a terminal" ;; esac

expect "a mode that is none" 2 "unknown mode '256B'" "$inflight" swizzle --mode 256B
expect "a type that is none" 2 "unknown type 'f8'; the types are u8, u16" "$inflight" swizzle --type f8
expect "a box that is none" 2 "'32y16' is not a list of sizes" "$inflight" swizzle --box 32y16
expect "a box of three" 2 'not ROWSxCOLUMNS' "$inflight" swizzle --box 32x16x2
expect "an empty box" 2 'not a list of sizes' "$inflight" swizzle --box 0x16
expect "a box too large" 2 'at most 256' "$inflight" swizzle --box 257x16
expect "rows that no copy has" 2 'has 12 bytes; it must be a multiple of 16' "$inflight" swizzle --box 8x3
expect "rows too wide for the mode" 2 'wider than the 128 of mode 128B: at most 32 columns of f32' \
  "$inflight" swizzle --box 8x64
expect "more lanes than a warp" 2 'a warp has 32' "$inflight" swizzle --box 64x32 --suggest 64x1
expect "too many bytes a lane" 2 'reads 1, 2, 4, 8 or 16 bytes, not 12' "$inflight" swizzle --suggest 8x1x3
expect "past the box" 2 'reaches past the box of 8x16' "$inflight" swizzle --box 8x16 --suggest 16x1
expect "an access that is none" 2 "'diagonal' is not column, row, tile" "$inflight" swizzle --suggest diagonal
finish
