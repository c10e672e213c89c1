"""Model cards: what they say, and that the hub's own reader finds it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import tagweave as tw
from tagweave.cli.main import application
from tagweave.evaluation.score import Measure, f_of_counts, interval, share_of_counts
from tagweave.front.card import cell
from tagweave.models.storage import load_model, save_model

TRAIN = "we/PRP walk/VBP\nthe/DT walk/NN\nthey/PRP walk/VBP\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("home-of-ada")
    (found / "train.txt").write_text(TRAIN, "utf-8")
    (found / "dev.txt").write_text(TRAIN.replace("they", "we"), "utf-8")
    (found / "test.txt").write_text("we/PRP walk/NN\nthe/DT walk/NN\n", "utf-8")
    tw.train(found / "train.txt", dev=found / "dev.txt", iterations=2).save(found / "tags.model")
    return found


def front_matter(card: str) -> dict[str, object]:
    _, text, _ = card.split("---\n", 2)
    return dict(yaml.safe_load(text))


def test_what_nobody_said_is_not_given(folder: Path) -> None:
    card = tw.model_card(folder / "tags.model")
    assert front_matter(card) == {
        "library_name": "tagweave",
        "tags": ["tagweave", "conditional-random-field", "tag"],
        "pipeline_tag": "token-classification",
    }
    assert "\n## Intended use\n\nNot given. " in card
    assert "\nNot measured on test data.\n" in card


def test_what_was_said(folder: Path) -> None:
    card = tw.model_card(folder / "tags.model", (), "mit", ["en", "fr"], "To try it.", 'Tags: of "Ada" --- 1')
    matter = front_matter(card)
    assert (matter["license"], matter["language"]) == ("mit", ["en", "fr"])
    assert '\n# Tags: of "Ada" --- 1\n' in card
    assert "\n## Intended use\n\nTo try it.\n" in card


def test_data_and_plan_name_files_without_their_folders(folder: Path) -> None:
    card = tw.model_card(folder / "tags.model", [str(folder / "test.txt")])
    digest = tw.load_model(folder / "tags.model").plan.target[0].sha256
    assert f"| train.txt | training | tag | 3 | {digest} |" in card
    assert "| dev.txt | development | tag | 3 |" in card
    assert "home-of-ada" not in card
    plan = json.loads(card.partition("```json\n")[2].partition("\n```")[0])
    assert plan["target"][0]["path"] == "train.txt"
    assert plan["iterations"] == 2


def test_scores_have_intervals_and_a_speed(folder: Path) -> None:
    card = tw.model_card(folder / "tags.model", [str(folder / "test.txt")])
    (row,) = (line for line in card.splitlines() if line.startswith("| test.txt |"))
    cells = [each.strip() for each in row.strip("|").split("|")]
    value, (low, high) = float(cells[3]), map(float, cells[4].split(" to "))
    assert cells[1:3] == ["2", "accuracy"]
    assert 0 <= low <= value <= high <= 100
    assert float(cells[5].replace(",", "")) > 0


def test_the_reader_of_the_hub_finds_the_scores(folder: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    card = hub.ModelCard(tw.model_card(folder / "tags.model", [str(folder / "test.txt")], "mit"))
    (result,) = card.data.eval_results
    assert (result.task_type, result.dataset_name, result.metric_type) == (
        "token-classification",
        "test.txt",
        "accuracy",
    )
    assert 0 <= result.metric_value <= 1
    assert card.data.license == "mit"


def test_text_of_a_model_cannot_leave_its_place(folder: Path) -> None:
    model = load_model(folder / "tags.model")
    (view,) = model.space.views
    view = replace(view, names=("a|b\n---\n```<script>", *view.names[1:]))
    space = replace(model.space, names=view.names, views=(view,))
    plan = model.about["plan"]
    about = {**model.about, "plan": {**plan, "target": [{**plan["target"][0], "path": "````|\n# x"}]}}
    save_model(replace(model, parameters=replace(model.parameters, space=space), about=about), folder / "evil.model")
    card = tw.model_card(folder / "evil.model")
    assert card.count("\n---\n") == 1
    assert "<script>" not in card
    assert card.rstrip().endswith("\n`````")


def test_cells() -> None:
    assert cell("a|b\nc`<\x1b") == "a\\|b\\\\nc'&lt;\\\\x1b"


def test_the_command(folder: Path) -> None:
    out = folder / "README.md"
    words = ["card", str(folder / "tags.model"), "--licence", "mit", "--language", "en", "-o", str(out)]
    assert CliRunner().invoke(application(), words).exit_code == 0
    assert out.read_text("utf-8") == tw.model_card(folder / "tags.model", (), "mit", ["en"])


class TestIntervals:
    def test_of_a_share(self) -> None:
        """Nearly those of the normal approximation, with one token a sentence."""
        right = np.arange(1000) % 10 < 8
        low, high = interval(Measure(np.stack([right, np.ones(1000)], axis=1).astype(np.int64), share_of_counts))
        error = 1.96 * np.sqrt(0.8 * 0.2 / 1000)
        assert (low, high) == pytest.approx((0.8 - error, 0.8 + error), abs=0.003)  # at a level of 0.9, 0.004 off

    def test_sentences_are_drawn_not_tokens(self) -> None:
        few = np.array([[90, 100], [10, 100]] * 5)
        low, high = interval(Measure(few, share_of_counts))
        assert high - low > 0.3

    def test_of_one_value(self) -> None:
        assert interval(Measure(np.array([[2, 2, 2]] * 4), f_of_counts)) == (1.0, 1.0)

    @pytest.mark.parametrize("counts", [np.zeros((0, 2), np.int64), np.zeros((3, 2), np.int64)])
    def test_undefined(self, counts: np.ndarray) -> None:
        assert np.isnan(interval(Measure(counts, share_of_counts))).all()

    def test_blocks_change_nothing_but_the_draws(self, monkeypatch: pytest.MonkeyPatch) -> None:
        measure = Measure(np.array([[1, 2], [2, 2], [0, 2]]), share_of_counts)
        monkeypatch.setattr("tagweave.evaluation.score._BLOCK", 30)
        low, high = interval(measure)
        assert low < 0.5 < high
