# Reads the header lines of the CUDA source in $source: header KEY, the first value; headers KEY, all;
# marked WORD, whether `// WORD` stands alone on a line.
headers() { sed -nE "s|^// $1: *||p" "$source"; }
header() { headers "$1" | head -n 1; }
marked() { grep -qE "^// $1\$" "$source"; }
