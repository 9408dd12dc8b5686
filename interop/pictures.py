"""Takes the pictures of the pages in docs/images, of the sample trace: pictures.py CHROMIUM GAPROF."""

import os
import pathlib
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

IMAGES = pathlib.Path("docs/images")
PICTURES = {
    "report.png": dict(viewport=dict(width=960, height=584)),
    "report-phone.png": dict(viewport=dict(width=390, height=844), color_scheme="dark", is_mobile=True, has_touch=True),
}


def main(chromium, gaprof):
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        page = pathlib.Path(folder, "report.html")
        date = dict(os.environ, SOURCE_DATE_EPOCH="1795336800")
        subprocess.run([gaprof, "report", "-q", "traces/reduce-scatter-in-step.json", "-o", page], check=True, env=date)
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, options in PICTURES.items():
            context = browser.new_context(**options)
            tab = context.new_page()
            tab.goto(page.as_uri())
            tab.screenshot(path=IMAGES / name)
            context.close()
        browser.close()


main(*sys.argv[1:])
