#!/usr/bin/env python3
"""Checks the site in a browser: check.py SITE CHROMIUM KIND. Every page on a screen and on a phone: no error on the
console, no request to other hosts, nothing wider than the window. The search finds KIND. Dark differs from light."""
import glob
import http.server
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading

DRIVER = """<!doctype html><meta charset="utf-8"><body style="margin:0"><script>
const {pages, widths, query} = %s;
const frame = document.createElement("iframe");
frame.style = "border:0;height:900px";
document.body.append(frame);
const load = (page, width) => new Promise(done => {
  frame.style.width = width + "px";
  frame.onload = () => setTimeout(() => done(frame.contentDocument), 30);
  frame.src = "/" + page;
});
(async () => {
  const told = {wide: [], found: [], background: "", outside: []};
  for (const page of pages) for (const width of widths) {
    const shown = await load(page, width);
    if (shown.documentElement.scrollWidth > width) told.wide.push(page + " at " + width + ": " + shown.documentElement.scrollWidth);
    for (const each of frame.contentWindow.performance.getEntriesByType("resource"))
      if (!each.name.startsWith(location.origin)) told.outside.push(page + ": " + each.name);
  }
  told.background = getComputedStyle((await load("index.html", 1300)).body).backgroundColor;
  const search = await load("search.html?q=" + query, 1300);
  for (let i = 0; i < 200 && !/finished/.test(search.querySelector(".search-summary")?.textContent); ++i)
    await new Promise(done => setTimeout(done, 100));
  told.found = [...search.querySelectorAll("#search-results li a")].map(each => each.getAttribute("href"));
  fetch("/told", {method: "POST", body: JSON.stringify(told)});
})();
</script>"""


def serve(site, job):
    answers = queue.Queue()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=site)

        def log_message(self, *arguments):
            pass

        def do_GET(self):
            if self.path != "/driver":
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write((DRIVER % json.dumps(job)).encode())

        def do_POST(self):
            answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, answers


def browse(chromium, site, job, *options):
    """Returns what the pages report about themselves, and the browser's log."""
    server, answers = serve(site, job)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, open(os.path.join(profile, "log"), "w+") as log:
        browser = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--enable-logging=stderr",
             "--remote-debugging-port=0", *options, f"http://127.0.0.1:{server.server_port}/driver"],
            stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)
        try:
            told = answers.get(timeout=240)
        finally:
            os.killpg(browser.pid, signal.SIGKILL)  # with the processes that it started
            browser.wait()
            server.shutdown()
        log.seek(0)
        return told, [line.strip() for line in log if ":CONSOLE" in line]


def main(site, chromium, kind):
    pages = [os.path.relpath(each, site) for each in sorted(glob.glob(f"{site}/**/*.html", recursive=True))]
    wrong = [] if len(pages) > 30 else [f"only {len(pages)} pages"]
    told, console = browse(chromium, site, {"pages": pages, "widths": [1300, 400], "query": kind})
    dark, _ = browse(chromium, site, {"pages": [], "widths": [], "query": kind}, "--blink-settings=preferredColorScheme=0")
    wrong += [f"wider than the window: {each}" for each in told["wide"]]
    wrong += [f"asks elsewhere: {each}" for each in told["outside"]]
    wrong += [f"on the console: {each}" for each in console]
    if not any("reference/kinds.html" in each for each in told["found"]):
        wrong.append(f"the search for {kind} finds {told['found']}")
    if told["background"] == dark["background"]:
        wrong.append(f"dark is as light: {dark['background']}")
    print("\n".join(f"FAIL: {each}" for each in wrong) or f"{len(pages)} pages, wide and narrow; {len(told['found'])} found")
    return bool(wrong)


sys.exit(main(*sys.argv[1:]))
