"""The pages of the reproduction of sun-wan-2012: their numbers, the paper's beside them, and what they say of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from result_pages import Pages, check_drawn_from_numbers, check_plots, check_tables, read_pages, rows

from tagweave.evaluation.score import f_of_counts
from tagweave.reproduce.cache import Cache
from tagweave.reproduce.sun_wan_2012.answers import tagged_counts
from tagweave.reproduce.sun_wan_2012.cascade import Cascade
from tagweave.reproduce.sun_wan_2012.figures import draw
from tagweave.reproduce.sun_wan_2012.methods import (
    CHARACTERS,
    CHARACTERS_AGAIN,
    GUIDED,
    GUIDED_GIVEN,
    PIECES,
    UNTAGGED,
    with_source,
    with_target,
)
from tagweave.reproduce.sun_wan_2012.page import lines
from tagweave.reproduce.sun_wan_2012.recipe import reproduce
from tagweave.reproduce.sun_wan_2012.settings import PARTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages of all parts, of the sample."""
    out = tmp_path_factory.mktemp("pages")
    written = list(reproduce(list(PARTS), None, 2, out / "cache", out, "tagweave reproduce", trials=200))
    assert [page.name for page in written] == [f"sun-wan-2012-{part}.md" for part in PARTS]
    return out


@pytest.fixture(scope="module")
def pages(folder: Path) -> Pages:
    """Text and numbers of every part."""
    return read_pages(folder, "sun-wan-2012", PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_tables_are_whole(part: str, pages: Pages) -> None:
    check_tables(pages[part][0], 4)


@pytest.mark.parametrize(("part", "count"), [("stacking", 1), ("learning-curve", 2), ("gold", 2), ("retraining", 1)])
def test_plots_are_there(part: str, count: int, pages: Pages, folder: Path) -> None:
    check_plots(pages[part][0], folder, count)


def test_the_numbers_of_the_paper_stand_beside_ours(pages: Pages) -> None:
    text, numbers = pages["stacking"]
    (setting,) = numbers["settings"]
    table = rows(text, "Table 2")
    assert list(table) == [CHARACTERS.name, GUIDED.name, UNTAGGED.name, PIECES.name]
    assert table[GUIDED.name][-3:] == ["93.89", "93.46", "93.67"]
    assert table[UNTAGGED.name][-3:] == ["-", "-", "93.73"]
    scores = setting["methods"][PIECES.name]["scores"]["dev"]
    found = [f"{scores['precision']:.2f}", f"{scores['recall']:.2f}", f"**{scores['mean']:.2f}**"]
    assert [cell.split(" ")[0] for cell in table[PIECES.name][:3]] == found
    assert rows(text, "Table 6")[PIECES.name][-1] == "94.36"
    text, _ = pages["retraining"]
    assert rows(text, "Table 5")[CHARACTERS_AGAIN.name][-1] == "94.26"
    assert rows(text, "Table 6")[CHARACTERS_AGAIN.name][-3:] == ["93.93", "94.29", "94.11"]
    table = rows(pages["learning-curve"][0], "Table 3: sizes of the source")
    assert [table[with_source(GUIDED, share).name][-1] for share in (0.2, 1.0)] == ["92.21", "93.67"]
    assert rows(pages["gold"][0], "Table 4")[GUIDED_GIVEN.name][-1] == "95.19"


def test_scores_are_those_of_what_is_in_the_cache(folder: Path, pages: Pages) -> None:
    pair = PARTS["retraining"](None)[0].draw(0)
    found = pages["retraining"][1]["settings"][0]["methods"][CHARACTERS_AGAIN.name]["scores"]
    for part, gold in pair.gold.items():
        counts = [
            tagged_counts(gold, Cascade(pair, seed, Cache(folder / "cache")).result(CHARACTERS_AGAIN)[part]).sum(axis=0)
            for seed in (0, 1)
        ]
        assert found[part]["values"] == [pytest.approx(100 * f_of_counts(each)) for each in counts]
        assert found[part]["precision"] == pytest.approx(sum(100 * each[0] / each[2] for each in counts) / 2)
        assert found[part]["recall"] == pytest.approx(sum(100 * each[0] / each[1] for each in counts) / 2)


def test_given_annotation_has_scores_of_its_own(pages: Pages) -> None:
    for setting in pages["gold"][1]["settings"]:
        assert setting["sizes"].keys() == {"target", "source", "test", "given"}
        scores = [setting["methods"][each.name]["scores"]["test"]["values"] for each in (GUIDED, GUIDED_GIVEN)]
        assert all(told > predicted for predicted, told in zip(*scores, strict=True))


def test_parts_share_trainings(folder: Path) -> None:
    names = [path.name.rpartition("-")[0] for path in (folder / "cache").iterdir()]
    assert names.count("pd-to-ctb-sample-fold-1-of-3-of-target-0") == 1 + 2  # whole, a quarter and a half
    assert names.count("pd-to-ctb-sample-source-tagger-0") == 5  # shares


def test_rows_are_tested_against_the_tagger_and_the_neighbour(pages: Pages) -> None:
    for _, numbers in pages.values():
        for setting in numbers["settings"]:
            methods = setting["methods"]
            first, above = next(iter(methods)), dict[tuple[float, ...], list[str]]()
            for name, found in methods.items():
                neighbours = above.setdefault(tuple(found["shares"]), [])
                assert set(found["against"]) == {first, *neighbours[-1:], *({PIECES.name} & set(neighbours))} - {name}
                neighbours.append(name)
                for reference, measures in found["against"].items():
                    for measure, test in measures.items():
                        means = [each["scores"][measure]["mean"] for each in (found, methods[reference])]
                        assert test["difference"] == pytest.approx(means[0] - means[1])
                        assert all(0 < p <= 1 for p in [*test["p"], test["p_all"]])


def test_rows_below_one_another_are_compared(pages: Pages) -> None:
    text, numbers = pages["stacking"]
    test = numbers["settings"][0]["methods"][PIECES.name]["against"][UNTAGGED.name]["dev"]
    found = f"{test['difference']:+.2f} | {test['p_all']:.4f} ({test['p'][0]:.4f}, {test['p'][1]:.4f}) |"
    assert f"| {PIECES.name} | {UNTAGGED.name} | {found}" in text


def test_findings(pages: Pages) -> None:
    text, numbers = pages["retraining"]
    findings = {found["text"]: found for found in numbers["settings"][0]["findings"]}
    assert len(findings) == 12
    better = findings["D' makes the character tagger better (Table 5)."]
    assert (better["paper"], better["measure"]) == (1.33, "dev")
    assert f"| {better['text']} | +1.33 | dev | {better['difference']:+.2f} | {better['p_all']:.4f} |" in text
    assert [len(setting["findings"]) for setting in pages["gold"][1]["settings"]] == [4, 4]


def test_shares_are_told(pages: Pages) -> None:
    methods = pages["learning-curve"][1]["settings"][0]["methods"]
    assert methods[with_source(PIECES, 0.4).name]["shares"] == [1.0, 0.4]
    assert methods[with_target(PIECES, 0.25).name]["shares"] == [0.25, 1.0]


def test_the_recipe_is_told(pages: Pages) -> None:
    for text, _ in pages.values():
        assert "- Every training: adagrad (batch 16, initial 1e-08), 2 iterations; the last one is kept." in text
        assert "- Folds of the jackknife: 3 of the target corpus, 3 where the source is trained on, too." in text


def test_a_page_is_drawn_from_its_numbers_alone(pages: Pages, tmp_path: Path) -> None:
    for page in pages.values():
        check_drawn_from_numbers(page, lines, draw, tmp_path)


def test_a_second_run_trains_nothing_and_keeps_the_discussion(folder: Path, pages: Pages, monkeypatch: Any) -> None:
    page = folder / "sun-wan-2012-gold.md"
    page.write_text(pages["gold"][0] + "\n## Discussion\n\nMine.\n", "utf-8")
    monkeypatch.setattr("tagweave.reproduce.sun_wan_2012.cascade.trained", lambda *_: pytest.fail("trained again"))
    list(reproduce(["gold"], None, 2, folder / "cache", folder, "tagweave reproduce", trials=200))
    assert page.read_text("utf-8") == pages["gold"][0] + "\n## Discussion\n\nMine.\n"
