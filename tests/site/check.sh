#!/usr/bin/env bash
# Builds the site in strict mode and checks it in a browser. Exit status 77: its tools are not
# available.
cd "$(dirname "$0")/../.." || exit 1
tools/install-tools site || { echo "skipped: Sphinx cannot be had"; exit 77; }
tools/docs || exit 1
kind=$(grep -oPm1 '^X\(\w+, "\K[a-z-]+' gpu/check/finding/kinds.def)
grep -q "\"${kind%%-*}\"" build/site/searchindex.js || { echo "FAIL: the search index lacks $kind"; exit 1; }
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
  if type -P $name >/dev/null; then exec python3 tests/site/check.py build/site "$(type -P $name)" "$kind"; fi
done
echo "skipped: the site is built, but there is no Chromium (chromium-headless-shell) to look at it"
exit 77
