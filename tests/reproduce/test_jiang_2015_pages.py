"""The pages of the reproduction of jiang-2015: their numbers, the paper's beside them, and what they say of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from result_pages import (
    Page,
    Pages,
    check_differences,
    check_drawn_from_numbers,
    check_plots,
    check_tables,
    read_page,
    rows,
    section,
)

from tagweave.reproduce.jiang_2015.figures import draw
from tagweave.reproduce.jiang_2015.methods import (
    BASELINE,
    CONVERSIONS,
    FILTERED,
    MERGING,
    MODEL_1,
    MODEL_2,
    MODEL_3,
    SOURCE,
    TARGET_SHARES,
    in_rounds,
    way_back,
)
from tagweave.reproduce.jiang_2015.page import lines
from tagweave.reproduce.jiang_2015.recipe import reproduce
from tagweave.reproduce.jiang_2015.settings import PARTS

SEEDS = {part: 2 if part in ("models", "parsing-french") else 1 for part in PARTS}


class LazyPages(Pages):
    """Text and numbers of every part, of the sample or of invented trees; each is run when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, part: str) -> Page:
        words = [part], None, SEEDS[part], self.folder / "cache", self.folder, "tagweave reproduce"
        (page,) = reproduce(*words, trials=100)
        assert page.name == f"jiang-2015-{part}.md"
        self[part] = read_page(page)
        return self[part]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the pages."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def pages(folder: Path) -> Pages:
    """The pages in it."""
    return LazyPages(folder)


@pytest.mark.parametrize("part", PARTS)
def test_tables_are_whole(part: str, pages: Pages) -> None:
    check_tables(pages[part][0], 2)


@pytest.mark.parametrize(
    ("part", "count"),
    [
        ("models", 2),
        ("predict-self", 2),
        ("sizes", 1),
        ("parsing-models", 3),
        ("parsing-perceptron", 1),
        ("parsing-predict-self", 4),
        ("parsing-sizes", 1),
        ("parsing-french", 1),
    ],
)
def test_plots_are_there(part: str, count: int, pages: Pages, folder: Path) -> None:
    check_plots(pages[part][0], folder, count)


def test_table_8_and_the_paper_beside_it(pages: Pages) -> None:
    text, numbers = pages["models"]
    table, setting = rows(section(text, "With the averaged"), "Table 8"), numbers["settings"][0]
    assert list(table) == [method.name for method in (BASELINE, MERGING, MODEL_1, MODEL_2, MODEL_3)]
    assert table[MODEL_1.name][-2:] == ["97.67", "4.39"]
    for name, row in table.items():
        found = setting["methods"][name]
        means = [f"**{found['scores'][part]['mean']:.2f}**" for part in ("dev", "test")]
        assert [cell.split(" ")[0] for cell in row[1:3]] == means
        times = setting["decoding"]["seconds"][name]
        assert len(times) == 2
        assert row[5] == f"{sum(times) / 2:.3f}"
    test = setting["methods"][MODEL_3.name]["against"][MODEL_1.name]["test"]
    assert table[MODEL_3.name][4] == f"{test['difference']:+.2f}, {test['p_all']:.4f}"
    assert table[BASELINE.name][3] == table[MODEL_1.name][4] == "-"


def test_table_9_has_words_by_the_second(pages: Pages) -> None:
    text, numbers = pages["parsing-models"]
    setting = numbers["settings"][0]
    table = rows(section(text, "100%"), "Table 9")
    assert list(table) == [method.name for method in (BASELINE, MERGING, MODEL_1, MODEL_2, MODEL_3)]
    assert table[MERGING.name][-2:] == ["65.95", "7.38"]
    assert setting["decoding"]["unit"] == "words"
    assert setting["decoding"]["length"] == setting["sizes"]["target"]["test"][1]
    (time,) = setting["decoding"]["seconds"][MODEL_1.name]
    assert table[MODEL_1.name][6] == f"{setting['decoding']['length'] / time:,.0f}"
    assert "Scores are UAS, x 100" in text
    assert "F of words" not in text


def test_table_13_is_of_pairs_of_tags(pages: Pages) -> None:
    text, numbers = pages["parsing-models"]
    smallest = numbers["settings"][2]
    found, table = smallest["by tag"]["rows"], rows(section(text, "10%"), "Table 13")
    assert list(table) == [row["tag"] for row in found]
    assert found
    for row in found:
        head, _, modifier = row["tag"].partition("→")
        assert {head, modifier} <= {"ROOT", "NOUN", "VERB", "ADJ", "DET", "ADP", "AUX", "PUNCT"}
        assert row["share"] > 1
        assert abs(row["first"] - row["second"]) > 0.5


def test_conversions_are_held_against_parsing_without_the_gold_tree(pages: Pages) -> None:
    text, numbers = pages["parsing-french"]
    methods = numbers["settings"][0]["methods"]
    for method in CONVERSIONS:
        against = methods[method.name]["against"]
        gains = [against[each.name]["test"]["difference"] for each in (BASELINE, MODEL_1)]
        told = f"- {method.name}: {gains[0]:+.2f} points from the baseline, {gains[1]:+.2f} from Model 1, which"
        assert sum(line.startswith(told) for line in text.splitlines()) == 1
        assert min(gains) > 0
        assert "source test" not in methods[method.name]["scores"]


def test_relations_are_scored_beside_heads(pages: Pages) -> None:
    text, numbers = pages["parsing-french"]
    table = rows(text, "Heads with")
    for name, found in numbers["settings"][0]["methods"].items():
        scores = found["scores"]
        assert table[name][1].startswith(f"**{scores['test LAS']['mean']:.2f}**")
        for heads, arcs in zip(scores["test"]["values"], scores["test LAS"]["values"], strict=True):
            assert arcs <= heads
    assert "test LAS" not in pages["parsing-models"][1]["settings"][0]["methods"][BASELINE.name]["scores"]
    assert "left out since their tokens differ: 0 of dev, 0 of test." in text


def test_table_6_is_of_both_models_on_both_tests(pages: Pages) -> None:
    text, numbers = pages["models"]
    table, methods = rows(text, "Table 6"), numbers["settings"][0]["methods"]
    assert list(table) == [BASELINE.name, SOURCE.name]
    assert table[SOURCE.name][-2:] == ["91.23", "94.25"]
    assert table[SOURCE.name][1].startswith(f"**{methods[SOURCE.name]['scores']['source test']['mean']:.2f}**")
    assert "source test" not in methods[MODEL_2.name]["scores"]


def test_what_a_user_asks_is_told(pages: Pages) -> None:
    text, numbers = pages["models"]
    for setting in numbers["settings"]:
        times = setting["decoding"]["seconds"]
        share = sum(times[MODEL_3.name]) / sum(times[MODEL_1.name])
        assert f"Model 3 takes {100 * share:.0f} % of the time of Model 1" in text


def test_table_12_has_what_changes(pages: Pages) -> None:
    text, numbers = pages["models"]
    found, table = numbers["settings"][0]["by tag"]["rows"], rows(text, "Table 12")
    assert list(table) == [row["tag"] for row in found]
    assert "NN" in table
    for row in found:
        assert row["share"] > 1
        assert abs(row["first"] - row["second"]) > 0.1
        assert table[row["tag"]][3] == ("↑" if row["second"] > row["first"] else "↓")
    assert table["NN"][-3:] == ["29.95", "97.79", "98.83"]


def test_lambda_0_is_model_2_and_one_round(pages: Pages) -> None:
    for kind, models in (("", ["models"]), ("parsing-", ["parsing-models", "parsing-french"])):
        settings = pages[f"{kind}predict-self"][1]["settings"]
        assert len(settings) == len(models)
        for setting, part in zip(settings, models, strict=True):
            check_lambda_0(setting, pages[part][1]["settings"])


def check_lambda_0(setting: dict[str, Any], again: list[dict[str, Any]]) -> None:
    methods = setting["methods"]
    assert methods[MODEL_2.name]["scores"] == methods[in_rounds(1, False).name]["scores"]
    same = next(each for each in again if (each["recipe"], each["sizes"]) == (setting["recipe"], setting["sizes"]))
    for measure, scores in methods[MODEL_2.name]["scores"].items():
        assert scores["values"] == same["methods"][MODEL_2.name]["scores"][measure]["values"][:1]


def test_re_estimation_takes_the_best_lambda_of_every_seed(pages: Pages) -> None:
    text, numbers = pages["predict-self"]
    methods = numbers["settings"][0]["methods"]
    chosen = methods[in_rounds(1, True).name]
    every = [methods[way_back(step / 10).name]["scores"]["dev"]["values"] for step in range(11)]
    for seed, (share, score) in enumerate(zip(chosen["way back"], chosen["scores"]["dev"]["values"], strict=True)):
        assert score == max(values[seed] for values in every) == every[round(10 * share)][seed]
    cell = rows(text, "Figures 7, 9 and 11")[in_rounds(1, True).name][0]
    assert cell == "; ".join(dict.fromkeys(f"1, {share:g}" for share in chosen["way back"]))


@pytest.mark.parametrize("part", ["predict-self", "parsing-predict-self"])
def test_filtering_uses_fewer_sentences(part: str, pages: Pages) -> None:
    methods = pages[part][1]["settings"][0]["methods"]
    assert max(methods[FILTERED.name]["sentences"]) < min(methods[MODEL_2.name]["sentences"])
    assert "sentences" not in methods[BASELINE.name]


@pytest.mark.parametrize("part", ["sizes", "parsing-sizes"])
def test_gains_by_size(part: str, pages: Pages) -> None:
    text, numbers = pages[part]
    settings = numbers["settings"]
    below = section(text, "What adaptation brings")
    found = [line for line in below.splitlines() if line.startswith("|")][2:]
    assert len(found) == len(settings) == len(TARGET_SHARES)
    for line, setting in zip(found, settings, strict=True):
        assert line.startswith(f"| {setting['sizes']['target']['train'][0]:,} |")
        test = setting["methods"][MODEL_1.name]["against"][BASELINE.name]["test"]
        assert f"| {test['difference']:+.2f}, {test['p_all']:.4f} |" in line


@pytest.mark.parametrize("part", PARTS)
def test_differences_are_those_of_the_means(part: str, pages: Pages) -> None:
    check_differences(pages[part][1], SEEDS[part])


@pytest.mark.parametrize(
    ("part", "counts"),
    [
        ("models", [7, 7]),
        ("predict-self", [7]),
        ("sizes", [2] * 5),
        ("parsing-models", [7] * 3),
        ("parsing-perceptron", [7]),
        ("parsing-predict-self", [5, 5]),
        ("parsing-sizes", [2] * 5),
        ("parsing-french", [9]),
    ],
)
def test_findings(part: str, counts: list[int], pages: Pages) -> None:
    text, numbers = pages[part]
    assert [len(setting["findings"]) for setting in numbers["settings"]] == counts
    for setting in numbers["settings"]:
        for found in setting["findings"]:
            paper = "-" if found["paper"] is None else f"{found['paper']:+.2f}"
            assert f"| {found['text']} | {paper} | {found['measure']} | {found['difference']:+.2f} |" in text


@pytest.mark.parametrize("part", PARTS)
def test_a_page_is_drawn_from_its_numbers_alone(part: str, pages: Pages, tmp_path: Path) -> None:
    check_drawn_from_numbers(pages[part], lines, draw, tmp_path)


def test_a_second_run_trains_nothing_and_keeps_the_discussion(folder: Path, pages: Pages, monkeypatch: Any) -> None:
    page = folder / "jiang-2015-sizes.md"
    page.write_text(pages["sizes"][0] + "\n## Discussion\n\nMine.\n", "utf-8")
    monkeypatch.setattr("tagweave.reproduce.jiang_2015.cells.Cell._run", lambda _: pytest.fail("trained again"))
    list(reproduce(["sizes"], None, 1, folder / "cache", folder, "tagweave reproduce", trials=100))
    assert page.read_text("utf-8") == pages["sizes"][0] + "\n## Discussion\n\nMine.\n"
