"""What `train`, `tag`, `complete` and `evaluate` do with parsers and head layers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tagweave.cli.errors import INTERRUPTED, OptionError, as_option_error

if TYPE_CHECKING:
    from tagweave.adapt.parsing import FittedParser
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Sentence
    from tagweave.learning.loop import Schedule

PARSE, HEAD = "parse", "head"
_EXPECTED = "it without: this is an option of tagging and segmenting"


def with_head_layer(argument: str) -> str:
    """A corpus argument that names a layer: `head`, if it names none."""
    from tagweave.corpus.load import parse_argument

    return argument if parse_argument(argument).layer else f"{argument}#{HEAD}"


def check_parsing_options(given: Mapping[str, object]) -> None:
    """Nothing, if no option is given that parsers do not have.

    Raises:
        OptionError: one is.
    """
    for option, value in given.items():
        if value:
            raise OptionError(f"found --{option} with the task parse, expected {_EXPECTED}")


@dataclass(frozen=True)
class ParserTraining:
    """A run of `tagweave train --task parse`; the attributes are its options."""

    corpora: Sequence[str]
    model: str
    dev: str | None
    weights: str | None
    learner: str
    settings: Sequence[str]
    templates: Sequence[str]
    seed: int
    threads: int
    precision: str
    format: str | None
    iterations: int | None
    patience: int
    resume: bool
    log: str | None

    def run(self) -> None:
        """Train and save.

        Raises:
            OptionError, CorpusError, OSError: as other training.
            typer.Exit: code 130, after an interrupt.
        """
        from tagweave.adapt.parsing import ParserRecipe, fit_parser
        from tagweave.cli.recipes import corpus_weights, learner_settings
        from tagweave.cli.training_files import read_corpus, run_identity
        from tagweave.encoding.arc_templates import ArcTemplates
        from tagweave.learning.loop import Schedule

        begin = time.perf_counter()
        chosen = learner_settings(self.learner, self.settings, self.seed)
        templates = ArcTemplates(tuple(self.templates)) if self.templates else None
        with as_option_error():
            recipe = ParserRecipe(templates, self.learner, chosen, precision=self.precision, threads=self.threads)
            _ = templates and templates.parsed
        each = zip(self.corpora, corpus_weights(self.weights, len(self.corpora)), strict=True)
        files = [read_corpus(with_head_layer(name), PARSE, self.format, weight) for name, weight in each]
        dev = read_corpus(with_head_layer(self.dev), PARSE, self.format) if self.dev else None
        run = run_identity(files, dev, recipe.to_json(), PARSE, self.seed)
        schedule = Schedule(self.iterations, self.patience, Path(f"{self.model}.checkpoint"), self.resume, run)
        corpora = [_called(file.corpus, files[0].guideline) for file in files]
        dev_corpus = _called(dev.corpus, files[0].guideline) if dev else None
        with ExitStack() as stack:
            fitted = fit_parser(corpora, recipe, dev_corpus, schedule, self._watcher(stack))
        about = {
            "corpora": [file.about() for file in files],
            "dev": dev.about() if dev else None,
            "seconds": round(time.perf_counter() - begin, 3),
        }
        self._save(fitted, about, schedule)

    def _watcher(self, stack: ExitStack) -> Any:
        from rich.console import Console

        from tagweave.learning.progress import Watchers, logged, shown

        watchers = [stack.enter_context(logged(Path(self.log), self.resume))] if self.log else []
        return Watchers([*watchers, stack.enter_context(shown(Console(stderr=True)))])

    def _save(self, fitted: FittedParser, about: dict[str, Any], schedule: Schedule) -> None:
        from datetime import UTC, datetime

        from tagweave.models.tree_storage import save_parser

        for line in fitted.notes():
            typer.echo(line, err=True)
        outcome = fitted.outcome
        if not outcome.iterations:
            typer.echo("interrupted in the first iteration: no model is written", err=True)
            raise typer.Exit(INTERRUPTED)
        date = datetime.now(UTC).isoformat(timespec="seconds")
        model = replace(fitted.model, about={**fitted.model.about, **about, "date": date})
        save_parser(model, self.model)
        score = "" if outcome.score is None else f", dev UAS {outcome.score:.4f}"
        typer.echo(f"{self.model}: {outcome.iterations} iterations{score}", err=True)
        if outcome.interrupted:
            typer.echo("interrupted: the same command with --resume goes on", err=True)
            raise typer.Exit(INTERRUPTED)
        if schedule.checkpoint:
            schedule.checkpoint.unlink(missing_ok=True)


def _called(corpus: Corpus, guideline: str) -> Corpus:
    """The corpus with its head layer under another name."""
    if corpus.guideline == guideline:
        return corpus
    own = corpus.guideline

    def renamed(sentence: Sentence) -> Sentence:
        heads = {guideline if name == own else name: layer for name, layer in sentence.heads.items()}
        return replace(sentence, heads=heads)

    return replace(corpus.map(renamed), guideline=guideline)


def is_parser(model: str) -> bool:
    """Whether a model file is a parser. Raises as `load_model`."""
    from tagweave.models.storage import describe_model

    return bool(describe_model(model).get("kind") == "tree")


@dataclass(frozen=True)
class Parsing:
    """One input and the parser that fills in its heads.

    Attributes:
        model: a file.
        argument: `PATH[#LAYER]` of the input; LAYER is the head layer that is evidence and is filled in.
        format: of the input.
        retag: whether the heads of the input are put aside.
        threads: how many threads share the work.
    """

    model: str
    argument: str
    format: str | None = None
    retag: bool = False
    threads: int = 1

    def write(self, output: str, format: str | None) -> None:  # noqa: A002
        """Parse, and write CoNLL-U, as a whole file or not at all; `-` is standard output.

        Raises:
            OptionError: another format of the output.
            CorpusError, OSError: as `Parser.complete`.
        """
        from tagweave.corpus.conllu import write
        from tagweave.corpus.formats import format_of_name
        from tagweave.corpus.text_file import written

        name = format or format_of_name(output) or "conllu"
        if name != "conllu":
            raise OptionError(f"found {name} as the format of the output, expected conllu: it has a place for heads")
        with written(output) as stream:
            write(self.parsed(), stream, head=self._layer)

    def parsed(self) -> Iterator[Sentence]:
        """The sentences of the input with their trees."""
        from tagweave.cli.input import Input
        from tagweave.models.parser import Parser
        from tagweave.models.tree_storage import load_parser

        parser = Parser(load_parser(self.model), self.threads)
        for block in Input(self.argument, self.format).blocks():
            given = [_without_heads(sentence, self._layer) for sentence in block] if self.retag else block
            yield from parser.complete(given, self._layer)

    @property
    def _layer(self) -> str:
        from tagweave.corpus.load import parse_argument

        return parse_argument(self.argument).layer or HEAD


def _without_heads(sentence: Sentence, layer: str) -> Sentence:
    return replace(sentence, heads={**sentence.heads, layer: (None,) * len(sentence)})


def write_parsed(parsing: Parsing, output: str, format: str | None, others: Mapping[str, object]) -> None:  # noqa: A002
    """`Parsing.write`, if no option is given that parsers do not have.

    Raises:
        OptionError: one is; or as `Parsing.write`.
    """
    for option, value in others.items():
        if value:
            raise OptionError(f"found --{option} with a parser, expected {_EXPECTED}")
    parsing.write(output, format)


def are_trees(gold: Corpus) -> bool:
    """Whether the layer that a corpus names is a head layer."""
    return any(gold.guideline in sentence.heads for sentence in gold)


def report_parses(gold: Corpus, systems: Mapping[str, Corpus], punctuation: bool, as_json: bool) -> None:
    """Show the attachment scores of systems."""
    from tagweave.evaluation.attachment import evaluate_parses

    report = evaluate_parses(gold, systems, punctuation)
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False))
    else:
        report.render()
