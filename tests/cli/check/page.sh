#!/usr/bin/env bash
# The page of --report FILE.html in a browser: it is complete in light and dark mode, on a wide
# screen and on a phone, and makes no network request. page.sh INFLIGHT PROGRAM
. "$(dirname "$0")/../lib.sh"
program=$2
browser=
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
  browser=$(command -v $name) && break
done
[ -n "$browser" ] || {
  echo "skipped: there is no Chromium (chromium-headless-shell)"
  exit 77
}
"$inflight" check --report "$work/page.html" "$program" arrive expect >/dev/null 2>&1

# Renders the page in a browser: `dump NAME OPTION...` keeps the document and a picture of it.
draw() {
  local name=$1
  shift
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/$name.profile" \
    "$@" --screenshot="$work/$name.png" "file://$work/page.html" >"$work/$name.log" 2>&1
  [ -s "$work/$name.png" ] || fail "no picture of the page ($name): $(tail -3 "$work/$name.log")"
}
draw light --window-size=1200,1600
draw dark --window-size=1200,1600 --blink-settings=preferredColorScheme=0
draw phone --window-size=400,2600
cmp -s "$work/light.png" "$work/dark.png" && fail "dark is as light"
timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/dump" --dump-dom "file://$work/page.html" \
  >"$work/dom.html" 2>/dev/null
[ "$(grep -c '<section class="finding"' "$work/dom.html")" = 2 ] || fail "not every finding is on the page"
[ "$(grep -c '<svg ' "$work/dom.html")" = 2 ] || fail "not every finding has its picture"

# On a phone only code and pictures are wider than the screen. A script that this test adds measures
# it.
sed 's|<meta http-equiv="Content-Security-Policy"[^>]*>||; s|</body>|<script>document.title = document.documentElement.scrollWidth + " of " + innerWidth;</script></body>|' \
  "$work/page.html" >"$work/measured.html"
title=$(timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/measure" --window-size=500,900 \
  --dump-dom "file://$work/measured.html" 2>/dev/null | grep -om1 '<title>[^<]*' | head -1)
width=${title#<title>} && [ "${width% of *}" -le "${width#* of }" ] 2>/dev/null || fail "it is wider than a phone: $title"
[ -z "${INFLIGHT_KEEP_PAGES:-}" ] || cp "$work"/*.png "$work/page.html" "$INFLIGHT_KEEP_PAGES"
finish
