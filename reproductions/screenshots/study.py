"""Pictures of the pages of the annotation server for the documentation: `python -m reproductions screenshots`.

The servers run on the bundled sample and on invented sentences, with simulated annotators and models that learned from
them. The
pictures are `annotating-*.png` in `--out`, `docs/pictures` by default: 1,280 pixels wide, some 390, in few colours.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from PIL import Image

from reproductions.lab.corpora import ROOT
from reproductions.screenshots import newsroom
from reproductions.screenshots.office import CURATOR, PASSWORD, furnish
from reproductions.screenshots.served import CHROMIUM, chromium, served, sign_in

WIDE, PHONE = {"width": 1280, "height": 400}, {"width": 390, "height": 700}
COLOURS = 128
ANNOTATOR = "Ada"


def main(words: Sequence[str]) -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m reproductions screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures", metavar="FOLDER")
    out = parser.parse_args(words).out
    if missing := _missing():
        sys.exit(f"found no {missing}")
    with tempfile.TemporaryDirectory() as folder:
        store, listed = furnish(Path(folder))
        spans = newsroom.furnish(Path(folder))
        with chromium() as browser, served(store, listed) as address, served(spans) as other:
            _write(chain(pictures(browser, address), span_pictures(browser, other)), out)
        for each in (store, spans):
            each.close()


def _write(every: Iterable[tuple[str, bytes]], out: Path) -> None:
    for name, picture in every:
        path = out / f"annotating-{name}.png"
        path.write_bytes(picture)
        print(f"{path} {len(picture):,} bytes")


def _missing() -> str | None:
    """What is needed and not there."""
    if CHROMIUM is None:
        return "Chromium, expected Debian's package chromium"
    fonts = shutil.which("fc-list")
    if fonts is None or not subprocess.run([fonts, ":lang=zh"], capture_output=True, check=True).stdout:
        return "font with Chinese characters, expected one: Debian's package fonts-noto-cjk"
    return None


def pictures(browser: Any, address: str) -> Iterator[tuple[str, bytes]]:
    """The names and PNGs of all pictures."""
    with _page(browser, WIDE) as page:
        page.goto(f"{address}/sign-in")
        page.get_by_label("Name").fill(ANNOTATOR)
        yield "sign-in", shot(page)
        sign_in(page, address, ANNOTATOR, PASSWORD)
        _press(page, "1")
        yield "task", shot(page)
        page.keyboard.press(" ")
        page.keyboard.type("N")
        yield "labels", shot(page)
        page.goto(f"{address}/concordance")
        for number, key in enumerate("wwx", 1):
            page.keyboard.press(key)
            page.locator("[aria-pressed=true]").nth(number - 1).wait_for()
        yield "concordance", shot(page)
    with _page(browser, PHONE) as page:
        sign_in(page, address, ANNOTATOR, PASSWORD)
        yield "phone", shot(page)
    with _page(browser, WIDE) as page:
        sign_in(page, address, CURATOR, PASSWORD)
        page.goto(f"{address}/adjudication")
        yield "adjudication", shot(page)
        page.goto(f"{address}/dashboard")
        yield "dashboard", shot(page)
        page.get_by_label("Invite").fill("Farid")
        page.keyboard.press("Enter")
        link = page.get_by_label("One-time link").input_value()
    with _page(browser, WIDE) as page:
        page.goto(link)
        yield "invitation", shot(page)
    with _page(browser, WIDE, color_scheme="dark") as page:
        sign_in(page, address, ANNOTATOR, PASSWORD)
        _press(page, "1")
        yield "dark", shot(page)


def span_pictures(browser: Any, address: str) -> Iterator[tuple[str, bytes]]:
    """The same for a project of spans."""
    with _page(browser, WIDE) as page:
        sign_in(page, address, ANNOTATOR, PASSWORD)
        _step(page, "a")
        yield "spans", shot(page)
    with _page(browser, PHONE, color_scheme="dark") as page:
        sign_in(page, address, ANNOTATOR, PASSWORD)
        yield "spans-phone", shot(page)
    with _page(browser, WIDE) as page:
        sign_in(page, address, CURATOR, PASSWORD)
        page.goto(f"{address}/adjudication")
        yield "spans-adjudication", shot(page)


def _step(page: Any, key: str) -> None:
    """Take a step in marking spans, and wait for what it changes."""
    before = page.locator("[name=steps]").get_attribute("value")
    page.keyboard.press(key)
    page.locator(f"[name=steps]:not([value='{before}'])").wait_for(state="attached")


def _press(page: Any, key: str) -> None:
    """Answer a task, and wait for the next."""
    before = page.locator("[name=started]").get_attribute("value")
    page.keyboard.press(key)
    page.locator(f"[name=started]:not([value='{before}'])").wait_for(state="attached")


@contextmanager
def _page(browser: Any, viewport: dict[str, int], **options: Any) -> Iterator[Any]:
    """A page of somebody who has not signed in."""
    context = browser.new_context(viewport=viewport, **options)
    try:
        yield context.new_page()
    finally:
        context.close()


def shot(page: Any) -> bytes:
    """The page as a PNG, as long as it is, in few colours."""
    drawn = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    found = io.BytesIO()
    drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(found, "PNG", optimize=True)
    return found.getvalue()
