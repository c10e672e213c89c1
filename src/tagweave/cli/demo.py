"""`tagweave demo`, which shows the package on its sample corpora, and `tagweave warm`, which compiles its code."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates
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
    console = table_console(_WIDTH)
    show = _Show(console)
    show.partial_annotation()
    show.ambiguous_annotation()
    show.two_guidelines()
    show.completion()
    show.segmentation()
    show.saved_model()
    console.print(
        f"\nThat took {time.perf_counter() - begin:.1f} s. Next, with corpora of your own:\n", highlight=False
    )
    for line in _NEXT:
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)


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
    """The parts of the demonstration on one console; later parts use the tagger of the first."""

    console: Console
    model: Model | None = None

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False)

    def title(self, text: str) -> None:
        self.console.rule(text, style="dim")

    def table(self, *rows: tuple[str, ...], columns: tuple[str, ...]) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(*columns)
        for row in rows:
            table.add_row(*map(Text, row))
        self.console.print(table)

    def partial_annotation(self) -> None:
        """Full annotation against 30 % of it, by marginal likelihood and by discarding what is not whole."""
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
        rows = []
        for name, corpus in (
            ("all labels", train),
            ("a part, marginal likelihood", part),
            ("the same part, whole sentences only", whole),
        ):
            model = _train(corpus)
            self.model = self.model or model
            layer = describe(train if corpus is train else part).layers["ctb"]
            rows.append((name, f"{100 * layer.share(layer.full):.0f} %", _accuracy(model, test)))
        self.table(*rows, columns=("trained on", "labels known", "accuracy"))
        self.say("What is unknown stays unknown: it allows every label, and the loss sums over all of them.")

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
        rows = [
            (name, _accuracy(_train(corpus), test))
            for name, corpus in (("either may be right (marginal likelihood)", blurred), ("the first is", first))
        ]
        self.table(*rows, columns=("what VV|NN means", "accuracy"))

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

    def completion(self) -> None:
        """One sentence, before and after: what is given stays."""
        from tagweave.corpus.sample import sample

        model, test = self._tagger(), sample("both.tsv#ctb")
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

    def saved_model(self) -> None:
        """The first model, saved, read again, and the same."""
        from tagweave.corpus.sample import sample
        from tagweave.front.loading import load_model

        model, test = self._tagger(), sample("both.tsv#ctb")
        self.title("6  A model saved and used again")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "ctb.model")
            model.save(path)
            same = load_model(path).relabelled(test) == model.relabelled(test)
            self.say(
                f"{path.stat().st_size:,} bytes, no pickle; the tags of {len(test)} sentences are the same: {same}."
            )

    def _tagger(self) -> Model:
        if self.model is None:
            raise typer.Exit(1)
        return self.model


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
    """The scores by the metric that suits the corpora."""
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
    from tagweave.corpus.sample import path

    lines = path("ctb.txt").read_text(encoding="utf-8").splitlines()[:_SENTENCES]
    sentences = [[token.split("_") for token in line.split()] for line in lines]
    words = [[word for word, _ in sentence] for sentence in sentences]
    tagged = [" ".join(map("_".join, sentence)) for sentence in sentences]
    partly = [" ".join("_".join(each[: 2 - at % 2]) for at, each in enumerate(sentence)) for sentence in sentences]
    segmented, raw = [" ".join(each) for each in words], ["".join(each) for each in words]
    boundaries = ["|".join(" ".join(word) for word in each) for each in words]
    trees, partial_trees = ([_tree(each, every) for each in sentences] for every in (1, 2))
    _run("tag", "tagged-underscore", [tagged, partly], "segmented", segmented)
    _run("segment", "segmented", [segmented], "raw", raw)
    _run("segment", "kytea", [boundaries], "raw", raw)
    _run("segtag", "tagged-underscore", [tagged], "raw", raw)
    _run("parse", "conllu", [trees, partial_trees], "conllu", partial_trees)


def _tree(sentence: list[list[str]], every: int) -> str:
    """A tree in which each word's head is the next word; only every `every`-th head is known."""
    rows = []
    for at, (word, tag) in enumerate(sentence, 1):
        head, relation = (at + 1, "dep") if at < len(sentence) else (0, "root")
        known = (str(head), relation) if at % every == 0 else ("_", "_")
        rows.append("\t".join((str(at), word, "_", tag, tag, "_", *known, "_", "_")) + "\n")
    return "".join(rows)


def _run(task: str, format: str, corpora: list[list[str]], of_input: str, texts: list[str]) -> None:  # noqa: A002
    """Train on each of the corpora, with development data, and label the texts."""
    from tagweave.corpus.load import load
    from tagweave.front.training import train

    typer.echo(f"{task}, from {format} text", err=True)
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        files = [Path(folder, f"{number}.train") for number in range(len(corpora))]
        text, output = Path(folder, "text"), Path(folder, "output")
        text.write_text("\n".join(texts) + "\n", encoding="utf-8")
        for file, corpus in zip(files, corpora, strict=True):
            file.write_text("\n".join(corpus) + "\n", encoding="utf-8")
        first, *_ = read = [load(str(file), format) for file in files]
        for each in read:
            dev = first.with_sentences(first.sentences[1:])  # other data than each of them
            model = train(each, dev=dev, task=task, iterations=1)
        model.label_file(text, output, format=of_input)
