"""Every relative link of the documentation leads somewhere: to a file, and to a heading in it."""

from __future__ import annotations

import re

from pages import PAGES, ROOT, anchors, links, text_of

_RESULTS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/results/*.md"))


def broken(page: str, target: str) -> str | None:
    """What is wrong with a link, `None` if nothing."""
    path, _, anchor = target.partition("#")
    found = (ROOT / page).parent / path if path else ROOT / page
    if not found.exists():
        return f"{page}: no file {target}"
    if anchor and anchor not in anchors(found.read_text(encoding="utf-8")):
        return f"{page}: no heading for {target}"
    return None


def test_relative_links_lead_somewhere() -> None:
    relative = [
        (page, target)
        for page in (*PAGES, *_RESULTS)
        for target in links(text_of(page))
        if "://" not in target and not target.startswith("mailto:")
    ]
    assert [problem for page, target in relative if (problem := broken(page, target))] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), ["README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in links(text_of(page)):
            found = ((ROOT / page).parent / target.partition("#")[0]).resolve()
            if "://" not in target and found.suffix == ".md" and found.is_relative_to(ROOT):
                waiting.append(found.relative_to(ROOT).as_posix())
    assert sorted(set(PAGES) - reached) == []


def test_every_picture_of_annotating_is_shown_and_described() -> None:
    shown = re.findall(r"!\[[^\]]{20,}\]\(pictures/(annotating-[a-z-]+\.png)\)", text_of("docs/annotating.md"))
    assert sorted(shown) == sorted(path.name for path in ROOT.glob("docs/pictures/annotating-*.png"))
