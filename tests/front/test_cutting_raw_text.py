"""Raw text is cut alike on all ways into a model of words: as the text that it learned from."""

from __future__ import annotations

from pathlib import Path

import tagweave as tw
from tagweave.corpus.sentence import Sentence
from tagweave.exchange.tokenization import Tokenization
from tagweave.serve.served_models import ServedModels
from tagweave.serve.settings import ServerSettings
from tagweave.streams.inputs import Input, load_for

TRAIN = "Jan|B-PER woont|O in|O Gent|B-LOC .|O\nMia|B-PER ,|O zei|O Jan|B-PER ,|O blaft|O .|O"
TEXTS = {
    "Jan woont in-huis.": "Jan woont in - huis .",
    "Jan , zei in-huis .": "Jan , zei in-huis .",
    "राम गया।": "राम गया ।",
    "Gent.": "Gent .",
}


def test_all_ways_into_a_model_cut_alike(tmp_path: Path) -> None:
    pairs = [[token.split("|") for token in line.split(" ")] for line in TRAIN.splitlines()]
    corpus = tw.Corpus([([form for form, _ in line], [label for _, label in line]) for line in pairs])
    path = tmp_path / "m.model"
    tw.train(corpus, iterations=1, average_seeds=1).save(path)
    model = tw.load_model(path)
    assert model.tokenization == Tokenization() and model.about["tokens"]["tokens"] == "words"
    served = ServedModels(ServerSettings((("m", str(path)),))).all[0]
    for text, words in TEXTS.items():
        (tmp_path / "in.txt").write_text(f"{text}\n", "utf-8")
        model.label_file(tmp_path / "in.txt", tmp_path / "out.txt")
        labelled = ((tmp_path / "out.txt").read_text("utf-8").strip(), model.tag(text))
        found = [" ".join(token.rpartition("/")[0] for token in line.split(" ")) for line in labelled]
        found.append(" ".join(served.operations["tag"].results([text])[0].tokens))
        found.append(" ".join(load_for(model.under(), str(tmp_path / "in.txt"))[0].forms))
        assert (text, found) == (text, [words] * len(found))
    model.label_file(tmp_path / "in.txt", tmp_path / "out.conllu")
    made = (tmp_path / "out.conllu").read_text("utf-8")
    assert made.startswith("# sent_id = 1\n# text = Gent.\n1\tGent\t") and "\tSpaceAfter=No\n2\t.\t" in made


def test_tokens_that_look_otherwise_are_told() -> None:
    glued = [Sentence(("Jan", "woont", "in", "Gent.")), Sentence(("Mia,", "zei", "Jan."))]
    apart = [Sentence(("Jan", "zei", ",", "in", "Gent", "."))]
    for learned, given, told in (
        (apart, glued, "at the ends of words"),
        (glued, apart, "that stand alone"),
        (apart, apart, ""),
    ):
        source = Input("x.col", tokenization=Tokenization.of_forms(each.forms for each in learned))
        note = source.note_on_tokens(given)
        assert note.startswith(f"x.col has signs {told}, but the model learned") if told else note == ""
