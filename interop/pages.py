"""Opens pages in headless Chromium and fails where one cannot be read or worked with.

pages.py CHROMIUM PAGE... ; the page named report.html has a step by stream.
"""

import pathlib
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

WAYS = {
    "1280": dict(viewport=dict(width=1280, height=800)),
    "dark": dict(viewport=dict(width=1280, height=800), color_scheme="dark"),
    "phone": dict(viewport=dict(width=390, height=844), is_mobile=True, has_touch=True),
    "no scripts": dict(viewport=dict(width=1280, height=800), java_script_enabled=False),
}
WIDER = """() => [...document.querySelectorAll('.scroll,figure,section,pre,dl,header')]
    .filter(e => e.scrollWidth > e.clientWidth + 1 && !(e.matches('.more') && e.nextElementSibling.checkVisibility()))
    .map(e => e.outerHTML.slice(0, 99))"""
failures = []


def must(ok, what):
    if not ok:
        failures.append(what)
        print("FAIL", what)


def looked_at(page, name, way):
    """What holds for every page in every way."""
    root = page.locator("html")
    if way != "no scripts":
        must(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name}, {way}: wider than the screen")
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        must(page.evaluate(WIDER) == [], f"{name}, {way}: {page.evaluate(WIDER)}")
        found = Axe().run(page).response["violations"]
        must(found == [], f"{name}, {way}: axe: {[(v['id'], v['nodes'][0]['html'][:120]) for v in found]}")
    must(page.locator("h1").is_visible() and "gaprof" in page.title(), f"{name}, {way}: no title")
    must(page.locator(".bars text").count() > 0, f"{name}, {way}: no values on the bars of the first screen")
    must(page.locator(".bars").first.bounding_box()["y"] < page.viewport_size["height"], f"{name}, {way}: no figure on the first screen")
    must(root.get_attribute("lang") == "en", f"{name}, {way}: no language")


def sorted_and_searched(page, name):
    """A click sorts, a second one the other way; a search hides and Escape shows."""
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    table = page.locator("table:has(.sort)").first
    button = table.locator(".sort").first
    cells = lambda: table.locator("tbody tr td:first-child").all_text_contents()
    before = cells()
    button.click()
    up = cells()
    button.click()
    must(table.locator("[aria-sort=descending]").count() == 1, f"{name}: not said to be sorted")
    must(cells() != up or len(set(up)) == 1, f"{name}: a second click on a heading changes nothing")
    must(len(before) == len(up), f"{name}: sorting loses rows")
    page.keyboard.press("/")
    page.keyboard.type("definitions of nothing")
    must(page.locator("output").first.text_content() == "nothing found", f"{name}: the search finds what is not there")
    must(page.locator(".content > section:visible").count() == 0, f"{name}: what does not match is shown")
    page.keyboard.press("Escape")
    must(page.locator(".miss").count() == 0, f"{name}: Escape does not end the search")
    page.keyboard.press("/")
    page.keyboard.type("severity")
    must("match" in page.locator("output").first.text_content(), f"{name}: the search finds nothing")
    page.keyboard.press("Escape")


def moved(page):
    """The step by stream: a choice of rank and step, zoom, pan, keys and what is pointed at."""
    stage, said = page.locator(".stage canvas"), page.locator(".tools output")
    stage.scroll_into_view_if_needed()
    whole = said.text_content()
    stage.focus()
    for key, what in (("+", "zoom in"), ("ArrowRight", "move"), ("-", "zoom out")):
        before = said.text_content()
        page.keyboard.press(key)
        must(said.text_content() != before, f"the key {key} does not {what}")
    page.keyboard.press("0")
    must(said.text_content() == whole, "0 does not show the whole step")
    page.get_by_role("button", name="zoom in").click()
    box, near = stage.bounding_box(), said.text_content()
    page.mouse.move(box["x"] + 500, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 20, steps=4)
    page.mouse.up()
    must(said.text_content() != near, "a drag does not move")
    tips = set()
    for x in range(110, int(box["width"]), 7):
        page.mouse.move(box["x"] + x, box["y"] + 60)
        if page.locator(".tip").is_visible():
            tips.add(page.locator(".tip").text_content())
    must(any("ts " in tip and "ms" in tip for tip in tips), "nothing is said of what is pointed at")
    must(any("gemm" in tip or "nccl" in tip for tip in tips), "no kernel is named")
    rank, step = page.get_by_label("rank", exact=True), page.get_by_label("step", exact=True)
    must(rank.locator("option").count() > 1 and step.locator("option").count() > 1, "there is no choice of rank or step")
    last = rank.locator("option").last.text_content()
    rank.select_option(last)
    step.select_option(step.locator("option").last.text_content())
    must(f"of rank {last}" in stage.get_attribute("aria-label"), "another rank is not shown")


def main(chromium, files):
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for file in map(pathlib.Path, files):
            for way, options in WAYS.items():
                context = browser.new_context(**options, bypass_csp=False)
                page, said = context.new_page(), []
                page.on("console", lambda m: said.append(m.text))
                page.on("pageerror", lambda e: said.append(str(e)))
                page.on("request", lambda r: r.url.startswith("file:") or r.url.startswith("data:") or said.append(r.url))
                page.goto(file.resolve().as_uri())
                if way == "1280":
                    sorted_and_searched(page, file.name)
                    if file.name == "report.html":
                        moved(page)
                    pdf = page.pdf(format="A4")
                    must(pdf.count(b"/Type /Page\n") < 20, f"{file.name}: too many pages in print")
                looked_at(page, file.name, way)
                must(said == [], f"{file.name}, {way}: {said}")
                context.close()
        browser.close()
    print(f"{len(files)} pages in {len(WAYS)} ways and in print: {len(failures)} failures")
    sys.exit(1 if failures else 0)


main(sys.argv[1], sys.argv[2:])
