"""The layer that a model learned is the one that it reads and writes, in every command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from tagweave.corpus.load import load
from tagweave.errors import CorpusError
from tagweave.front.many_files import ModelWork

WORDS = {"the": ("DET", "DT"), "dog": ("NOUN", "NN"), "dogs": ("NOUN", "NNS"), "runs": ("VERB", "VBZ")}
TEXTS = ["the dog runs", "the dogs", "dogs runs", "the dog"] * 5
ROWS = {
    "conllu": "{at}\t{form}\t_\t{first}\t{second}\t_\t_\t_\t_\t_",
    "columns": "{form}\t{second}\t{first}",
}
FORMS = {
    # the format, its header, the layer that is not its usual one, and the usual one
    "conllu": ("conllu", "", "xpos", "upos"),
    "columns": ("columns", "# columns = form pos other\n", "pos", "other"),
}
QUIET: dict[str, Any] = {"iterations": 3, "seed": 0}


def text(kind: str, known: Callable[[int], bool] = lambda _: True) -> str:
    """A file of sentences; the labels of the layer to learn are there in those that are known."""
    lines = []
    for number, sentence in enumerate(TEXTS):
        for at, form in enumerate(sentence.split(), 1):
            first, second = WORDS[form]
            second = second if known(number) else "_"
            lines.append(ROWS[kind].format(at=at, form=form, first=first, second=second) + "\n")
        lines.append("\n")
    return FORMS[kind][1] + "".join(lines)


@pytest.fixture(scope="module", params=[(kind, name) for kind in FORMS for name in ("", "PTB=")], ids="-".join)
def given(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Any]:
    """A format, the folder of its files, and a model of its second layer, with a name of its own or without."""
    kind, name = request.param
    folder = tmp_path_factory.mktemp("layers")
    (folder / "whole").write_text(text(kind))
    (folder / "part").write_text(text(kind, lambda number: number % 2 == 0))
    model = tw.train(f"{name}{folder / 'whole'}#{FORMS[kind][2]}", **QUIET)
    model.save(folder / "model")
    return kind, folder, tw.load_model(folder / "model")


def _tag(folder: Path, model: Any, form: str) -> Any:
    model.label_file(folder / "part", folder / "out", retag=True, output_format=form)
    return load(str(folder / "out"), form)


def _complete(folder: Path, model: Any, form: str) -> Any:
    model.complete_file(folder / "part", folder / "out", format=form)
    return load(str(folder / "out"), form)


def _of_many(folder: Path, model: Any, form: str) -> Any:
    model.save(folder / "model")
    work = ModelWork("tag", (str(folder / "model"),), 1, {"retag": True, "output_format": form, "format": form})
    work(str(folder / "part"), str(folder / "out"))
    return load(str(folder / "out"), form)


def _after_another(folder: Path, model: Any, form: str) -> Any:
    model.label_file(folder / "part", folder / "out", retag=True, output_format="conllu", then=[model])
    return load(str(folder / "out"), "conllu")


COMMANDS: dict[str, Callable[[Path, Any, str], Any]] = {
    "tag --retag": _tag,
    "complete": _complete,
    "tag --processes": _of_many,
    "tag of a corpus": lambda folder, model, form: model.tag(load(str(folder / "part"), form)),
    "tag of sentences": lambda folder, model, form: model.tag(list(load(str(folder / "part"), form))),
    "complete of a corpus": lambda folder, model, form: model.complete(load(str(folder / "part"), form)),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_layer_that_a_model_learned_is_written_and_no_other(command: str, given: tuple[str, Path, Any]) -> None:
    kind, folder, model = given
    form, _, layer, usual = FORMS[kind]
    expected = load(str(folder / "whole"), form)
    done = COMMANDS[command](folder, model, form)
    assert [each.layers[layer] for each in done] == [each.layers[layer] for each in expected]
    if command != "complete of a corpus":  # which says nothing of other layers
        assert [each.layers[usual] for each in done] == [each.layers[usual] for each in expected]
        assert {name for each in done for name in each.layers} == {*expected[0].layers}


def test_a_stage_writes_the_field_that_it_learned(tmp_path: Path) -> None:
    (tmp_path / "whole").write_text(text("conllu"))
    first = tw.train(f"UD={tmp_path / 'whole'}#upos", **QUIET)
    then = tw.train(f"PTB={tmp_path / 'whole'}#xpos", **QUIET)
    (tmp_path / "words").write_text("the dog runs\n")
    for one, other in ((first, then), (then, first)):
        one.label_file(tmp_path / "words", tmp_path / "out", then=[other])
        [sentence] = load(str(tmp_path / "out"), "conllu")
        assert sentence.layers == {"upos": (("DET",), ("NOUN",), ("VERB",)), "xpos": (("DT",), ("NN",), ("VBZ",))}
        one.label_file(tmp_path / "words", tmp_path / "alone.conllu")
        [sentence] = load(str(tmp_path / "alone.conllu"))
        assert [name for name, layer in sentence.layers.items() if any(layer)] == ["upos" if one is first else "xpos"]


def test_models_are_compared_with_the_layer_that_they_learned(
    given: tuple[str, Path, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    kind, folder, model = given
    gold = load(str(folder / "whole"), FORMS[kind][0])
    report = tw.evaluate(gold, {"mine": model}).to_json()
    assert report["systems"]["mine"]["accuracy"]["value"] == 1
    assert f"the layer {FORMS[kind][2]} is compared" in capsys.readouterr().err


def test_both_layers_of_a_conversion_are_those_of_training(tmp_path: Path) -> None:
    (tmp_path / "whole").write_text(text("conllu"))
    (tmp_path / "part").write_text(text("conllu").replace("\tDET\t", "\t_\t").replace("\tNOUN\t", "\t_\t"))
    ptb, ud = f"PTB={tmp_path / 'whole'}#xpos", f"UD={tmp_path / 'whole'}#upos"
    model = tw.train(ptb, ud, method="coupled", **QUIET)
    model.convert_file(tmp_path / "part", tmp_path / "out", to="UD")
    expected = load(ptb).sentences
    done = load(str(tmp_path / "out"), "conllu").sentences
    assert [each.layers["xpos"] for each in done] == [each.layers["PTB"] for each in expected]
    assert [each.layers["upos"] for each in done] == [each.layers["upos"] for each in expected]
    scores = [tw.evaluate(tw.load(each), {"m": model}).to_json()["systems"]["m"]["accuracy"] for each in (ptb, ud)]
    assert [each["value"] for each in scores] == [1, 1]


def test_a_corpus_of_heads_keeps_the_tags_that_a_parser_reads(tmp_path: Path) -> None:
    path = tmp_path / "trees.conllu"
    path.write_text("1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n\n")
    [sentence], [whole] = tw.load(f"UD={path}#head"), load(str(path))
    assert sentence.layers == whole.layers
    assert sentence.heads == {"UD": whole.heads["head"]}


def test_a_layer_without_a_name_is_the_models_if_it_has_its_labels(
    given: tuple[str, Path, Any], tmp_path: Path
) -> None:
    _, _, model = given
    model.tell = print
    (tmp_path / "gold.conll").write_text("the\tDT\ndog\tNN\n\nthe\tDT\nruns\tNN\n")
    (tmp_path / "part.conll").write_text("the\tDT\ndog\t_\n\nthe\tNN\nruns\t_\n")
    (tmp_path / "other.conll").write_text("the\tX\ndog\tY\n\n")
    model.label_file(tmp_path / "gold.conll", tmp_path / "out.conll", retag=True)
    done = load(str(tmp_path / "out.conll"))
    assert [[*each.layers] for each in done] == [["tag"], ["tag"]]
    assert done[1].layers["tag"] == (("DT",), ("VBZ",))
    system = tw.evaluate(str(tmp_path / "gold.conll"), {"mine": str(tmp_path / "out.conll")}).to_json()["systems"]
    assert system["mine"]["accuracy"]["value"] == 0.75
    model.complete_file(tmp_path / "part.conll", tmp_path / "out.conll")
    assert load(str(tmp_path / "out.conll"))[1].layers["tag"] == (("NN",), ("VBZ",))
    model.label_file(tmp_path / "other.conll", tmp_path / "out.conll")
    assert load(str(tmp_path / "out.conll"))[0].layers["tag"] == (("X",), ("Y",))


def test_a_file_without_the_layer(given: tuple[str, Path, Any], tmp_path: Path) -> None:
    kind, _, model = given
    layer = FORMS[kind][2]
    notes: list[str] = []
    model.tell = notes.append
    (tmp_path / "other.conll").write_text("# columns = form a b\nthe\tX\tY\n")
    model.label_file(tmp_path / "other.conll", tmp_path / "out.conll", retag=True)
    [sentence] = load(str(tmp_path / "out.conll"))
    assert sentence.layers == {"a": (("X",),), "b": (("Y",),), layer: (("DT",),)}
    assert [f"has no layer {layer}" in each for each in notes] == [True]
    if kind != "conllu":
        (tmp_path / "other.conllu").write_text("1\tthe\t_\tX\tY\t_\t_\t_\t_\t_\n\n")
        with pytest.raises(CorpusError, match=f"expected a layer '{layer}', as in training"):
            model.label_file(tmp_path / "other.conllu", tmp_path / "out.conllu", retag=True)
        model.label_file(f"{tmp_path / 'other.conllu'}#xpos", tmp_path / "out.conllu", retag=True)
        assert load(str(tmp_path / "out.conllu"))[0].layers == {"upos": (("X",),), "xpos": (("DT",),)}
