"""`tagweave demo`, which shows the package on its sample corpora, and `tagweave warm`, which compiles its code."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tagweave.cli.console import add_row

if TYPE_CHECKING:
    from rich.console import Console

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates, Sentence
    from tagweave.front.model import Model

_ITERATIONS = 10
_WIDTH = 100  # characters, in a pipe or a file


def demo() -> None:
    """Train on the sample corpora and show what the package does, in a minute or two.

    Tagging from full, partial and ambiguous annotation and from two guidelines, completion of a partial sentence,
    segmentation from a few known boundaries, and reuse of a saved model. The sample is small: the scores illustrate
    differences, and measure nothing.
    """
    from tagweave.evaluation.tables import table_console

    begin = time.perf_counter()
    show = _Show(table_console(_WIDTH))
    tagger = show.partial_annotation()
    show.ambiguous_annotation()
    show.two_guidelines()
    show.completion(tagger)
    show.segmentation()
    show.saved_model(tagger)
    show.say(f"\nThat took {time.perf_counter() - begin:.1f} s. Next, with corpora of your own:\n")
    for line in _NEXT:
        show.say(f"  {line}", soft_wrap=True)


_NEXT = (
    "tagweave info TRAIN.txt                                 what is known in a corpus, and what is not",
    "tagweave train TRAIN.txt --dev DEV.txt -o my.model      words and tags, as word/TAG",
    "tagweave tag my.model TEXT.txt -o TAGGED.txt            tag text",
    "tagweave complete my.model PARTIAL.txt                  fill in what annotators left open",
    "tagweave train a=MINE.txt --source b=THEIRS.txt -o ab.model",
    "tagweave convert ab.model b=THEIRS.txt --to a           tags of the other guideline, as of yours",
    "tagweave train --task segment TRAIN.kytea -o seg.model  a segmenter from partly known boundaries",
    "tagweave evaluate GOLD.txt TAGGED.txt --train TRAIN.txt",
)


@dataclass
class _Show:
    """The parts of the demonstration on one console."""

    console: Console

    def say(self, text: str, soft_wrap: bool = False) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=soft_wrap)

    def title(self, text: str) -> None:
        self.console.rule(text, style="dim")

    def table(self, *rows: tuple[str, ...], columns: tuple[str, ...]) -> None:
        from rich.table import Table

        table = Table(*columns)
        for row in rows:
            add_row(table, *row)
        self.console.print(table)

    def partial_annotation(self) -> Model:
        """Compare full annotation with 30 % of it, by marginal likelihood and in whole sentences alone."""
        from tagweave.corpus.describe import describe
        from tagweave.corpus.sample import partial, sample

        train, test = sample("ctb.txt"), sample("both.tsv#ctb")
        self.title("1  Annotation that is incomplete")
        self.say(
            f"The sample: {len(train)} Chinese sentences with tags to train on, {len(test)} others to test on. (The"
            " first run compiles what it needs; later ones start at once.)"
        )
        part = partial(train)
        whole = part.with_sentences(sentence for sentence in part if None not in sentence.layers["ctb"])
        tagger: Model = _train(train)
        rows = []
        for name, model, corpus in (
            ("all labels", tagger, train),
            ("a part, marginal likelihood", _train(part), part),
            ("the same part, whole sentences only", _train(whole), part),
        ):
            layer = describe(corpus).layers["ctb"]
            rows.append((name, f"{100 * layer.share(layer.full):.0f} %", _accuracy(model, test)))
        self.table(*rows, columns=("trained on", "labels known", "accuracy"))
        self.say("What is unknown stays unknown: it allows every label, and the loss sums over all of them.")
        return tagger

    def ambiguous_annotation(self) -> None:
        """Candidates instead of labels, by marginal likelihood and by taking the first."""
        from tagweave.corpus.describe import describe
        from tagweave.corpus.sample import AMBIGUOUS, ambiguous, sample

        train, test = sample("ctb.txt"), sample("both.tsv#ctb")
        blurred = ambiguous(train)
        layer = describe(blurred).layers["ctb"]
        self.title("2  Annotation that is ambiguous")
        share = 100 * layer.share(layer.ambiguous)
        self.say(f"{share:.0f} % of the tokens now carry two candidates, {'|'.join(AMBIGUOUS)}.")
        first = blurred.map(
            lambda sentence: sentence.with_layer("ctb", [each and each[:1] for each in sentence.layers["ctb"]])
        )
        self.table(
            ("either may be right (marginal likelihood)", _accuracy(_train(blurred), test)),
            ("the first is", _accuracy(_train(first), test)),
            columns=("what VV|NN means", "accuracy"),
        )

    def two_guidelines(self) -> None:
        """A coupled model of corpora that have no tag in common, and what it makes of tags of the other guideline."""
        from tagweave.corpus.sample import forms_only, sample

        ctb, pd, test = sample("ctb.txt"), sample("pd.txt"), sample("both.tsv#ctb")
        self.title("3  Two guidelines")
        self.say(
            f"{len(ctb)} sentences have tags of the guideline CTB, {len(pd)} others have those of PD; none has both."
        )
        coupled = _train(ctb, [pd])
        converted = coupled.convert(forms_only(sample("both.tsv#pd"), "pd"), to="ctb")
        self.table(
            ("CTB", "the words", _accuracy(_train(ctb), test)),
            ("CTB and PD, coupled", "the words", _accuracy(coupled, test)),
            ("CTB and PD, coupled", "the words and their PD tags", _percent(test, converted)),
            columns=("trained on", "given", "accuracy of CTB tags"),
        )
        bundles = len(coupled.chain.space)
        self.say(f"The labels of the coupled model are {bundles} pairs of tags; either corpus is evidence for it.")

    def completion(self, model: Model) -> None:
        """Show one sentence before and after: given labels stay."""
        from tagweave.corpus.sample import sample

        test = sample("both.tsv#ctb")
        sentence = next(s for s in test if len(s) <= 10)
        layer = [c if at % 3 == 0 else None for at, c in enumerate(sentence.layers["ctb"])]
        given = sentence.with_layer("ctb", layer)
        done = model.complete(test.with_sentences([given]))[0]
        self.title("4  A sentence completed")
        self.say("What an annotator gave is never changed; the rest is the best sequence that agrees with it.")
        best = model.under().k_best(given, 1, "ctb")[0]
        rows = zip(given.forms, map(_shown, layer), map(_shown, done.layers["ctb"]), strict=True)
        self.table(*rows, columns=("word", "given", "completed"))
        self.say(f"Its probability, given what was given: {best.probability:.3f}")

    def segmentation(self) -> None:
        """A segmenter from KyTea's partial annotation, written to a file as annotators would."""
        from tagweave.corpus.sample import partial_lines, sample
        from tagweave.front.corpora import load

        self.title("5  Words from boundaries that are known here and there")
        train, test = sample("pd.txt"), sample("both.tsv#pd")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "pd.kytea")
            path.write_text("".join(f"{line}\n" for line in partial_lines(train)), encoding="utf-8")
            corpus = load(path)
            self.say(f"A file in KyTea's format, {len(corpus)} lines: | is a boundary, - is none, a blank is unknown.")
            self.say(f"  {partial_lines(train)[0]}")
            words = _train(corpus, task="segment").relabelled(test)
        f = _scores(test, words).words.f
        self.say(f"The segmenter finds the words of {len(test)} other sentences with F {100 * f:.1f}. One of them:")
        self.say(f"  {''.join(words[0].forms)}  ->  {' '.join(words[0].forms)}")

    def saved_model(self, model: Model) -> None:
        """Save a model, read it again, and compare."""
        from tagweave.corpus.sample import sample
        from tagweave.front.model import load_model

        test = sample("both.tsv#ctb")
        self.title("6  A model saved and used again")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "ctb.model")
            model.save(path)
            same = load_model(path).relabelled(test) == model.relabelled(test)
            self.say(
                f"{path.stat().st_size:,} bytes, no pickle; the tags of {len(test)} sentences are the same: {same}."
            )


def _train(corpus: Corpus, sources: Sequence[Corpus] = (), **options: Any) -> Any:
    """A model of one corpus, or of two guidelines."""
    from tagweave.front.training import train
    from tagweave.learning.run import Silence

    return train(corpus, sources, iterations=_ITERATIONS, callback=Silence(), **options)


def _accuracy(model: Model, test: Corpus) -> str:
    return _percent(test, model.relabelled(test))


def _percent(test: Corpus, system: Corpus) -> str:
    return f"{100 * _scores(test, system).tokens.value:.1f} %"


def _scores(test: Corpus, system: Corpus) -> Any:
    from tagweave.front.evaluation import evaluate

    report: Any = evaluate(test, {"": system})
    return report.systems[""]


def _shown(candidates: Candidates) -> str:
    return "-" if candidates is None else "|".join(candidates)


_SENTENCES = 20


def warm() -> None:
    """Compile the code that training, tagging, segmenting and parsing use by default, for images and CI.

    Compiled code is stored beside the package, where other users find it, or else in a folder of the user.
    """
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.formats import kytea
    from tagweave.corpus.sample import forms_only, partial_lines, sample

    ctb = sample("ctb.txt")
    whole = ctb.with_sentences(ctb.sentences[:_SENTENCES])
    partly = whole.map(lambda s: s.with_layer("ctb", (None if n % 2 else c for n, c in enumerate(s.layers["ctb"]))))
    segmented, raw = ("".join(f"{blank.join(each.forms)}\n" for each in whole) for blank in (" ", ""))
    known = (each.renamed({kytea.SEGMENTATION: "ctb"}) for each in kytea.read(partial_lines(whole)))
    boundaries = Corpus(tuple(known), "ctb", "character")
    trees, partial_trees = whole.map(lambda s: _with_tree(s, 1)), whole.map(lambda s: _with_tree(s, 2))
    _run("tag", [whole, partly], segmented, "segmented")
    _run("segment", [forms_only(whole), boundaries], raw, "raw")
    _run("segtag", [whole], raw, "raw")
    _run("parse", [trees, partial_trees], partial_trees, "conllu")


def _with_tree(sentence: Sentence, every: int) -> Sentence:
    """Let each word's head be the next word; only every `every`-th head is known."""
    from tagweave.corpus.sentence import Arc

    last = len(sentence)
    arcs = [Arc(at + 1, "dep") if at < last else Arc(0, "root") for at in range(1, last + 1)]
    heads = [(arc,) if at % every == 0 else None for at, arc in enumerate(arcs, 1)]
    tags = sentence.layers["ctb"]
    return replace(sentence, layers={"upos": tags, "xpos": tags}, heads={"head": tuple(heads)})


def _run(task: str, corpora: list[Corpus], text: str | Corpus, format: str) -> None:  # noqa: A002
    """Train on each of the corpora, with development data, and label the text."""
    from tagweave.corpus.load import save
    from tagweave.front.training import train

    typer.echo(f"{task}, of {format} text", err=True)
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        given, output = Path(folder, "text"), Path(folder, "output")
        if isinstance(text, str):
            given.write_text(text, encoding="utf-8")
        else:
            save(text, str(given), format)
        for corpus in corpora:
            dev = corpora[0].with_sentences(corpora[0].sentences[1:])  # other data than each of them
            model = train(corpus, dev=dev, task=task, iterations=1)
        model.label_file(given, output, format=format)
