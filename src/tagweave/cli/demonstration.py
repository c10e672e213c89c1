"""What `tagweave demo` shows on the sample corpora, and what `tagweave warm` runs so that it is compiled."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.describe import describe
from tagweave.corpus.formats import kytea
from tagweave.corpus.sample import AMBIGUOUS, ambiguous, forms_only, partial, partial_lines, sample
from tagweave.corpus.sentence import Arc, Candidates, Sentence
from tagweave.evaluation.tables import add_row, table_console
from tagweave.front.corpora import load, save
from tagweave.front.evaluation import evaluate
from tagweave.front.loading import load_model
from tagweave.front.model import Model
from tagweave.front.training import train
from tagweave.learning.run import Silence
from tagweave.streams import say

_ITERATIONS = 10
_CONSOLE = table_console(100)  # characters, in a pipe or a file


def demonstrate() -> None:
    """Show incomplete and ambiguous annotation, two guidelines, completion, segmentation and a saved model."""
    begin = time.perf_counter()
    tagger = _show_partial_annotation()
    _show_ambiguous_annotation()
    _show_two_guidelines()
    _show_completion(tagger)
    _show_segmentation()
    _show_saved_model(tagger)
    _print(f"\nThat took {time.perf_counter() - begin:.1f} s. Next, with corpora of your own:\n")
    for line in NEXT:
        _CONSOLE.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)


NEXT = (
    "tagweave info TRAIN.txt                                 what is known in a corpus, and what is not",
    "tagweave train TRAIN.txt --dev DEV.txt -o my.model      words and tags, as word/TAG",
    "tagweave tag my.model TEXT.txt -o TAGGED.txt            tag text",
    "tagweave complete my.model PARTIAL.txt                  fill in what annotators left open",
    "tagweave train a=MINE.txt --source b=THEIRS.txt -o ab.model",
    "tagweave convert ab.model b=THEIRS.txt --to a           tags of the other guideline, as of yours",
    "tagweave train --task segment TRAIN.kytea -o seg.model  a segmenter from partly known boundaries",
    "tagweave evaluate GOLD.txt TAGGED.txt --train TRAIN.txt",
)
"""Commands to go on with."""


def _show_partial_annotation() -> Model:
    """Compare full annotation with 30 % of it, by marginal likelihood and in whole sentences alone."""
    gold, test = sample("ctb.txt"), sample("both.tsv#ctb")
    _title("1  Annotation that is incomplete")
    _print(
        f"The sample: {len(gold)} Chinese sentences with tags to train on, {len(test)} others to test on. (The"
        " first run compiles what it needs; later ones start at once.)"
    )
    incomplete = partial(gold)
    complete = incomplete.with_sentences(sentence for sentence in incomplete if None not in sentence.layers["ctb"])
    tagger = _model(gold)
    table = Table("trained on", "labels known", "accuracy")
    for name, model, corpus in (
        ("all labels", tagger, gold),
        ("a part, marginal likelihood", _model(incomplete), incomplete),
        ("the same part, whole sentences only", _model(complete), incomplete),
    ):
        layer = describe(corpus).layers["ctb"]
        add_row(table, name, f"{100 * layer.share(layer.full):.0f} %", _accuracy(test, model.relabelled(test)))
    _CONSOLE.print(table)
    _print("What is unknown stays unknown: it allows every label, and the loss sums over all of them.")
    return tagger


def _show_ambiguous_annotation() -> None:
    """Compare candidates instead of labels, by marginal likelihood and by taking the first."""
    test, blurred = sample("both.tsv#ctb"), ambiguous(sample("ctb.txt"))
    layer = describe(blurred).layers["ctb"]
    _title("2  Annotation that is ambiguous")
    share = 100 * layer.share(layer.ambiguous)
    _print(f"{share:.0f} % of the tokens now carry two candidates, {'|'.join(AMBIGUOUS)}.")
    first = blurred.map(lambda s: s.with_layer("ctb", [label and label[:1] for label in s.layers["ctb"]]))
    table = Table("what VV|NN means", "accuracy")
    for name, corpus in (("either may be right (marginal likelihood)", blurred), ("the first is", first)):
        add_row(table, name, _accuracy(test, _model(corpus).relabelled(test)))
    _CONSOLE.print(table)


def _show_two_guidelines() -> None:
    """Train a coupled model of corpora that have no tag in common, and convert tags of the other guideline."""
    ctb, pd, test = sample("ctb.txt"), sample("pd.txt"), sample("both.tsv#ctb")
    _title("3  Two guidelines")
    _print(f"{len(ctb)} sentences have tags of the guideline CTB, {len(pd)} others have those of PD; none has both.")
    coupled = _model(ctb, [pd])
    converted = coupled.convert(forms_only(sample("both.tsv#pd"), "pd"), to="ctb")
    table = Table("trained on", "given", "accuracy of CTB tags")
    add_row(table, "CTB", "the words", _accuracy(test, _model(ctb).relabelled(test)))
    add_row(table, "CTB and PD, coupled", "the words", _accuracy(test, coupled.relabelled(test)))
    add_row(table, "CTB and PD, coupled", "the words and their PD tags", _accuracy(test, converted))
    _CONSOLE.print(table)
    bundles = len(coupled.chain.space)
    _print(f"The labels of the coupled model are {bundles} pairs of tags; either corpus is evidence for it.")


def _show_completion(model: Model) -> None:
    """Show one sentence before and after: given labels stay."""
    test = sample("both.tsv#ctb")
    sentence = next(s for s in test if len(s) <= 10)
    layer = [label if at % 3 == 0 else None for at, label in enumerate(sentence.layers["ctb"])]
    open_sentence = sentence.with_layer("ctb", layer)
    completed = model.complete(test.with_sentences([open_sentence]))[0]
    _title("4  A sentence completed")
    _print("What an annotator gave is never changed; the rest is the best sequence that agrees with it.")
    best = model.under().k_best(open_sentence, 1, "ctb")[0]
    table = Table("word", "given", "completed")
    for form, before, after in zip(sentence.forms, layer, completed.layers["ctb"], strict=True):
        add_row(table, form, _shown(before), _shown(after))
    _CONSOLE.print(table)
    _print(f"Its probability, given what was given: {best.probability:.3f}")


def _show_segmentation() -> None:
    """Train a segmenter from KyTea's partial annotation, written to a file as annotators would."""
    _title("5  Words from boundaries that are known here and there")
    lines = partial_lines(sample("pd.txt"))
    test = sample("both.tsv#pd")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pd.kytea")
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        corpus = load(path)
    _print(f"A file in KyTea's format, {len(corpus)} lines: | is a boundary, - is none, a blank is unknown.")
    _print(f"  {lines[0]}")
    words = _model(corpus, task="segment").relabelled(test)
    f = _scores(test, words).words.f
    _print(f"The segmenter finds the words of {len(test)} other sentences with F {100 * f:.1f}. One of them:")
    _print(f"  {''.join(words[0].forms)}  ->  {' '.join(words[0].forms)}")


def _show_saved_model(model: Model) -> None:
    """Save a model, read it again, and compare."""
    test = sample("both.tsv#ctb")
    _title("6  A model saved and used again")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ctb.model")
        model.save(path)
        size = path.stat().st_size
        is_same = load_model(path).relabelled(test) == model.relabelled(test)
    _print(f"{size:,} bytes, no pickle; the tags of {len(test)} sentences are the same: {is_same}.")


def _print(text: str) -> None:
    _CONSOLE.print(text, highlight=False, markup=False)


def _title(text: str) -> None:
    _CONSOLE.rule(text, style="dim")


def _model(corpus: Corpus, sources: Sequence[Corpus] = (), **options: Any) -> Model:
    return train(corpus, sources, iterations=_ITERATIONS, callback=Silence(), **options)


def _accuracy(test: Corpus, system: Corpus) -> str:
    return f"{100 * _scores(test, system).tokens.value:.1f} %"


def _scores(test: Corpus, system: Corpus) -> Any:
    report: Any = evaluate(test, {"": system})
    return report.systems[""]


def _shown(candidates: Candidates) -> str:
    return "-" if candidates is None else "|".join(candidates)


_SENTENCES = 20


def compile_kernels() -> None:
    """Train models of every task on a few sentences, and label text, so that what they run is compiled."""
    ctb = sample("ctb.txt")
    complete = ctb.with_sentences(ctb.sentences[:_SENTENCES])
    partly = complete.map(lambda s: s.with_layer("ctb", (None if n % 2 else c for n, c in enumerate(s.layers["ctb"]))))
    segmented, raw = ("".join(f"{blank.join(sentence.forms)}\n" for sentence in complete) for blank in (" ", ""))
    boundary_sentences = (
        sentence.renamed({kytea.SEGMENTATION: "ctb"}) for sentence in kytea.read(partial_lines(complete))
    )
    boundaries = Corpus(tuple(boundary_sentences), "ctb", "character")
    trees, partial_trees = complete.map(lambda s: _with_tree(s, 1)), complete.map(lambda s: _with_tree(s, 2))
    _train_and_label("tag", [complete, partly], segmented, "segmented")
    _train_and_label("segment", [forms_only(complete), boundaries], raw, "raw")
    _train_and_label("segtag", [complete], raw, "raw")
    _train_and_label("parse", [trees, partial_trees], partial_trees, "conllu")


def _with_tree(sentence: Sentence, every: int) -> Sentence:
    """Let each word's head be the next word; only every `every`-th head is known."""
    last = len(sentence)
    arcs = [Arc(at + 1, "dep") if at < last else Arc(0, "root") for at in range(1, last + 1)]
    heads = [(arc,) if at % every == 0 else None for at, arc in enumerate(arcs, 1)]
    tags = sentence.layers["ctb"]
    return replace(sentence, layers={"upos": tags, "xpos": tags}, heads={"head": tuple(heads)})


def _train_and_label(task: str, corpora: list[Corpus], text: str | Corpus, format: str) -> None:  # noqa: A002
    """Train on each of the corpora, with development data, and label the text."""
    say(f"{task}, of {format} text")
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        text_file = Path(folder, "text")
        if isinstance(text, str):
            text_file.write_text(text, encoding="utf-8")
        else:
            save(text, text_file, format)
        for corpus in corpora:
            dev = corpora[0].with_sentences(corpora[0].sentences[1:])  # other data than each of them
            model = train(corpus, dev=dev, task=task, iterations=1)
        model.label_file(text_file, Path(folder, "output"), format=format)
