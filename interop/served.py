"""Opens what gaprof open and gaprof serve serve in headless Chromium, and fails where a page cannot be read.

served.py CHROMIUM GAPROF RUNS ; RUNS is a folder of runs, each in a folder of its own.
"""

import pathlib
import subprocess
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

WAYS = {
    "1280": dict(viewport=dict(width=1280, height=800)),
    "dark": dict(viewport=dict(width=1280, height=800), color_scheme="dark"),
    "phone": dict(viewport=dict(width=390, height=844), is_mobile=True, has_touch=True),
}
failures = []
looked = 0


def must(ok, what):
    if not ok:
        failures.append(what)
        print("FAIL", what)


def looked_at(page, name, said):
    """What holds for every page."""
    global looked
    looked += 1
    page.wait_for_load_state("networkidle")
    found = Axe().run(page).response["violations"]
    must(found == [], f"{name}: axe: {[(v['id'], v['nodes'][0]['html'][:120]) for v in found]}")
    must(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name}: wider than the screen")
    must("gaprof" in page.title(), f"{name}: no title")
    must(said == [], f"{name}: {said}")


def visited(browser, url, way, options, index):
    """The first page and, by the keyboard, what it leads to."""
    context = browser.new_context(**options)
    page, said = context.new_page(), []
    page.on("console", lambda m: said.append(m.text))
    page.on("pageerror", lambda e: said.append(str(e)))
    page.on("request", lambda r: r.url.startswith(url.split("?")[0]) or r.url.startswith("data:") or said.append(r.url))
    page.goto(url)
    must("token" not in page.url, f"{way}: the token stays in the address")
    looked_at(page, f"{way}, first page", said)
    if index:
        for _ in range(4):  # a table that scrolls takes the focus, too
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('a')"):
                break
        page.keyboard.press("Enter")
        page.wait_for_selector("#verdict", timeout=60_000)
        looked_at(page, f"{way}, a run", said)
    for words in ("flame graph", "open in Perfetto"):
        link = page.get_by_text(words, exact=True).first
        with context.expect_page() if link.get_attribute("target") == "_blank" else page.expect_navigation():
            link.click()
        opened = context.pages[-1]
        looked_at(opened, f"{way}, {words}", said)
        opened.go_back() if opened is page else opened.close()
    context.close()


def main(chromium, gaprof, runs):
    runs = pathlib.Path(runs)
    one = next(d for d in sorted(runs.iterdir()) if d.is_dir())
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for command, path in (("open", one), ("serve", runs)):
            served = subprocess.Popen([gaprof, command, str(path), "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            try:
                url = served.stdout.readline().strip()
                for way, options in WAYS.items():
                    visited(browser, url, f"{command}, {way}", options, command == "serve")
            finally:
                served.terminate()
                served.wait(10)
        browser.close()
    print(f"{looked} served pages: {len(failures)} failures")
    sys.exit(1 if failures else 0)


main(*sys.argv[1:])
