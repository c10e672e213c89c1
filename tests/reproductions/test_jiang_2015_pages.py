"""The pages of the reproduction of jiang-2015: their numbers, and the paper's beside them."""

from __future__ import annotations

import pytest
from result_pages import SEEDS, Pages, rows, section

from reproductions.jiang_2015.methods import (
    BASELINE,
    CONVERSIONS,
    MERGING,
    MODEL_1,
    MODEL_2,
    MODEL_3,
    SOURCE,
    TARGET_SHARES,
    in_rounds,
)

TABLE = [method.name for method in (BASELINE, MERGING, MODEL_1, MODEL_2, MODEL_3)]


@pytest.fixture
def pages(papers: dict[str, Pages]) -> Pages:
    """Those of the paper."""
    return papers["jiang-2015"]


def test_table_8_and_the_paper_beside_it(pages: Pages) -> None:
    text, setting = pages["models"].text, pages["models"].settings[0]
    table = rows(section(text, "With the averaged"), "Table 8")
    assert list(table) == TABLE
    assert table[MODEL_1.name][-2:] == ["97.67", "4.39"]
    for name, row in table.items():
        found = setting["methods"][name]
        means = [f"**{found['scores'][part]['mean']:.2f}**" for part in ("dev", "test")]
        assert [cell.split(" ")[0] for cell in row[1:3]] == means
        times = setting["decoding"]["seconds"][name]
        assert len(times) == SEEDS
        assert row[5] == f"{sum(times) / SEEDS:.3f}"
    test = setting["methods"][MODEL_3.name]["against"][MODEL_1.name]["test"]
    assert table[MODEL_3.name][4] == f"{test['difference']:+.2f}, {test['p_all']:.4f}"
    assert table[BASELINE.name][3] == table[MODEL_1.name][4] == "-"


def test_table_9_has_words_by_the_second(pages: Pages) -> None:
    text, setting = pages["parsing-models"].text, pages["parsing-models"].settings[0]
    table = rows(section(text, "100%"), "Table 9")
    assert list(table) == TABLE
    assert table[MERGING.name][-2:] == ["65.95", "7.38"]
    assert setting["decoding"]["unit"] == "words"
    assert setting["decoding"]["length"] == setting["sizes"]["target"]["test"][1]
    times = setting["decoding"]["seconds"][MODEL_1.name]
    assert table[MODEL_1.name][6] == f"{setting['decoding']['length'] * SEEDS / sum(times):,.0f}"
    assert "Scores are UAS, x 100" in text
    assert "F of words" not in text


def test_table_13_is_of_pairs_of_tags(pages: Pages) -> None:
    text, smallest = pages["parsing-models"].text, pages["parsing-models"].settings[2]
    found, table = smallest["by tag"]["rows"], rows(section(text, "10%"), "Table 13")
    assert list(table) == [row["tag"] for row in found]
    assert found
    for row in found:
        head, _, modifier = row["tag"].partition("→")
        assert {head, modifier} <= {"ROOT", "NOUN", "VERB", "ADJ", "DET", "ADP", "AUX", "PUNCT"}
        assert row["share"] > 1
        assert abs(row["first"] - row["second"]) > 0.5


def test_conversions_are_held_against_parsing_without_the_gold_tree(pages: Pages) -> None:
    methods = pages["parsing-french"].settings[0]["methods"]
    for method in CONVERSIONS:
        against = methods[method.name]["against"]
        gains = [against[each.name]["test"]["difference"] for each in (BASELINE, MODEL_1)]
        told = f"- {method.name}: {gains[0]:+.2f} points from the baseline, {gains[1]:+.2f} from Model 1, which"
        assert sum(line.startswith(told) for line in pages["parsing-french"].text.splitlines()) == 1
        assert "source test" not in methods[method.name]["scores"]


def test_relations_are_scored_beside_heads(pages: Pages) -> None:
    text = pages["parsing-french"].text
    table = rows(text, "Heads with")
    for name, found in pages["parsing-french"].settings[0]["methods"].items():
        scores = found["scores"]
        assert table[name][1].startswith(f"**{scores['test LAS']['mean']:.2f}**")
        for heads, arcs in zip(scores["test"]["values"], scores["test LAS"]["values"], strict=True):
            assert arcs <= heads
    assert "test LAS" not in pages["parsing-models"].settings[0]["methods"][BASELINE.name]["scores"]
    assert "left out since their tokens differ: 0 of dev, 0 of test." in text


def test_table_6_is_of_both_models_on_both_tests(pages: Pages) -> None:
    table, methods = rows(pages["models"].text, "Table 6"), pages["models"].settings[0]["methods"]
    assert list(table) == [BASELINE.name, SOURCE.name]
    assert table[SOURCE.name][-2:] == ["91.23", "94.25"]
    assert table[SOURCE.name][1].startswith(f"**{methods[SOURCE.name]['scores']['source test']['mean']:.2f}**")
    assert "source test" not in methods[MODEL_2.name]["scores"]


def test_what_a_user_asks_is_told(pages: Pages) -> None:
    for setting in pages["models"].settings:
        times = setting["decoding"]["seconds"]
        share = sum(times[MODEL_3.name]) / sum(times[MODEL_1.name])
        assert f"Model 3 takes {100 * share:.0f} % of the time of Model 1" in pages["models"].text


def test_table_12_has_what_changes(pages: Pages) -> None:
    found, table = pages["models"].settings[0]["by tag"]["rows"], rows(pages["models"].text, "Table 12")
    assert list(table) == [row["tag"] for row in found]
    assert "NN" in table
    for row in found:
        assert row["share"] > 1
        assert abs(row["first"] - row["second"]) > 0.1
        assert table[row["tag"]][3] == ("↑" if row["second"] > row["first"] else "↓")
    assert table["NN"][-3:] == ["29.95", "97.79", "98.83"]


def test_the_ways_of_all_seeds_are_told(pages: Pages) -> None:
    cell = rows(pages["predict-self"].text, "Figures 7, 9 and 11")[in_rounds(1, True).name][0]
    assert cell == "1, 0; 1, 0.1"


@pytest.mark.parametrize("part", ["sizes", "parsing-sizes"])
def test_gains_by_size(part: str, pages: Pages) -> None:
    settings, below = pages[part].settings, section(pages[part].text, "What adaptation brings")
    found = [line for line in below.splitlines() if line.startswith("|")][2:]
    assert len(found) == len(settings) == len(TARGET_SHARES)
    for line, setting in zip(found, settings, strict=True):
        assert line.startswith(f"| {setting['sizes']['target']['train'][0]:,} |")
        test = setting["methods"][MODEL_1.name]["against"][BASELINE.name]["test"]
        assert f"| {test['difference']:+.2f}, {test['p_all']:.4f} |" in line


@pytest.mark.parametrize(("part", "counts"), [("models", [7, 7]), ("parsing-predict-self", [5, 5])])
def test_findings(part: str, counts: list[int], pages: Pages) -> None:
    assert [len(setting["findings"]) for setting in pages[part].settings] == counts
