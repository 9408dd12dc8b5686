"""Opens the site of docs/ in headless Chromium and fails where a page cannot be read or found.

site.py CHROMIUM FOLDER [PICTURES]
"""

import functools
import http.server
import pathlib
import sys
import threading

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError, sync_playwright

WAYS = {
    "1280": dict(viewport=dict(width=1280, height=800)),
    "dark": dict(viewport=dict(width=1280, height=800), color_scheme="dark"),
    "phone": dict(viewport=dict(width=390, height=844), is_mobile=True, has_touch=True),
}
PAGES = ["index.html", "glossary.html", "definitions.html", "rules/index.html", "rules/OV004.html", "commands.html", "whatif.html"]
SEARCHES = {"reduced in": "glossary.html", "straggler": "glossary.html", "OV004": "rules/OV004.html", "inconclusive": "glossary.html"}
failures = []


def must(ok, what):
    if not ok:
        failures.append(what)
        print("FAIL", what)


def served(folder):
    """Serves a folder on a port of its own, and returns its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def looked_at(page, name, way):
    """What holds for every page in every way."""
    must(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name}, {way}: wider than the screen")
    must(page.locator("h1").first.is_visible(), f"{name}, {way}: no title")
    found = Axe().run(page).response["violations"]
    bad = [(v["id"], v["impact"], v["nodes"][0]["html"][:140]) for v in found if v["impact"] in ("serious", "critical")]
    must(bad == [], f"{name}, {way}: axe: {bad}")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(float(x)) for x in dark[dark.index("(") + 1 : -1].split(",")[:3])
    must((brightness < 300) == (way == "dark"), f"{name}, {way}: background {dark}")


def fits(page, address, folder):
    """No page of all is wider than a phone."""
    for file in sorted(pathlib.Path(folder).rglob("*.html")):
        name = file.relative_to(folder).as_posix()
        page.goto(f"{address}/{name}")
        must(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name}, phone: wider than the screen")


def searched(page, address):
    """What is typed into the search leads to its page."""
    for words, want in SEARCHES.items():
        page.goto(f"{address}/index.html")
        page.wait_for_load_state("networkidle")
        page.keyboard.press("/")
        page.keyboard.type(words)
        page.wait_for_timeout(1000)  # the index is searched in a worker
        page.keyboard.press("Enter")
        try:
            page.wait_for_url(f"**/{want}*", timeout=10_000)
        except TimeoutError:
            must(False, f"the first that the search for {words!r} finds is {page.url}, not {want}")
        must(page.locator("h1").first.is_visible(), f"the search for {words!r} leads to no page")


def main(chromium, folder, pictures=None):
    address = served(folder)
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for way, options in WAYS.items():
            context = browser.new_context(**options)
            page, said = context.new_page(), []
            page.on("console", lambda m: m.type == "error" and said.append(m.text))
            page.on("pageerror", lambda e: said.append(str(e)))
            page.on("request", lambda r: r.url.startswith((address, "data:", "blob:")) or said.append(r.url))
            for name in PAGES:
                page.goto(f"{address}/{name}")
                page.wait_for_load_state("networkidle")
                looked_at(page, name, way)
                if pictures:
                    page.screenshot(path=pathlib.Path(pictures) / f"{name.replace('/', '-')}-{way}.png")
            if way == "1280":
                searched(page, address)
            if way == "phone":
                fits(page, address, folder)
            must(said == [], f"{way}: {said}")
            context.close()
        browser.close()
    print(f"{len(PAGES)} pages of the site in {len(WAYS)} ways, {len(SEARCHES)} searches: {len(failures)} failures")
    sys.exit(1 if failures else 0)


main(*sys.argv[1:])
