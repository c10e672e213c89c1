"""Commands of `tagweave annotate` that put questions and people into a store, and get answers out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli import options
from tagweave.cli.console import OptionError, check_outputs
from tagweave.cli.options import argument, flag, switch
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.annotate.rules import Settings
    from tagweave.annotate.store import Store
    from tagweave.models.chain_predictor import ChainPredictor

StoreUrl = Annotated[str, flag("URL", "sqlite:///FILE or postgresql://...; created if it does not exist.", "--store")]

Guideline = Annotated[
    str | None, flag("G", "The guideline of the answers, if the model has several. Default: its first.")
]
Share = Annotated[
    float,
    flag(
        "SHARE",
        "Ask about this share of the tokens (or sentences, for spans), the least certain ones.",
        least=0,
        most=1,
    ),
]


@contextmanager
def opened(url: str, settings: Settings | None = None) -> Iterator[Store]:
    """Open the store of a URL, and close it at the end. Raise OptionError if it cannot, or refuses a value."""
    try:
        from sqlalchemy.exc import SQLAlchemyError

        from tagweave.annotate.store import Store
    except ModuleNotFoundError as error:
        raise OptionError(
            f"found no {error.name}, expected the extra annotate: pip install '.[annotate]' in a checkout of tagweave"
        ) from error

    try:
        store = Store.open(url, settings)
        try:
            yield store
        finally:
            store.close()
    except SQLAlchemyError as error:
        lines = str(getattr(error, "orig", None) or error).strip().splitlines()
        raise OptionError(f"--store: {lines[0] if lines else error!r}") from error
    except ValueError as error:
        if type(error) is not ValueError:  # such an error already names its source
            raise
        raise OptionError(str(error)) from error


def adduser(
    store: StoreUrl,
    name: Annotated[str, flag("N", "The name to sign in with.")],
    role: Annotated[
        str, flag("annotator|curator", "Annotators answer; curators also decide, and invite others.")
    ] = "annotator",
    password: Annotated[
        str | None, flag("P", "By default, asked for on the terminal, where nobody else sees it.")
    ] = None,
) -> None:
    """Add a user to the annotation server."""
    with opened(store) as people:
        from tagweave.annotate.sign_in import hashed

        added = people.add_annotator(name, role, hashed(_prompted(name) if password is None else password))
    say(f"{added.name}: {added.role}")


def _prompted(name: str) -> str:
    if not sys.stdin.isatty():
        raise OptionError("found no terminal to ask for a password, expected one, or --password")
    return str(typer.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True))


_PURPOSES = ("real", "gold", "training")


def import_corpus(
    corpus: Annotated[str, argument("[G=]CORPUS[#LAYER]", "Sentences; - is standard input.")],
    store: StoreUrl,
    model: Annotated[str | None, flag("MODEL", "Chooses what to ask, and shows candidates.")] = None,
    guideline: Guideline = None,
    purpose: Annotated[
        str,
        flag(
            "real|gold|training",
            "real: tokens that CORPUS leaves open. gold: known tokens, mixed in to measure annotators. training:"
            " known tokens, asked before an annotator is admitted.",
            "--as",
        ),
    ] = "real",
    share: Share = 0.2,
    number: Annotated[int, flag("N", "gold, training: how many, drawn at random.", least=1)] = 100,
    spans: Annotated[
        bool, switch("Without MODEL: ask for the spans of CORPUS that it leaves open.", "--spans")
    ] = False,
    seed: options.Seed = 0,
    threads: options.Threads = 1,
    format: options.InputFormat = None,  # noqa: A002
) -> None:
    """Put sentences into the store as questions for annotators.

    With MODEL, the questions are about its least certain tokens, or, if its labels code spans (B-PER, I-PER, O), about
    the spans in sentences drawn by its uncertainty. Without, they are about tokens that are ambiguous in CORPUS, or,
    with --spans, about the spans in sentences that CORPUS leaves open.
    """
    from tagweave.corpus.load import load
    from tagweave.streams.inputs import load_for

    _check(purpose, model, spans)
    tagger = open_model(model, guideline, threads) if model else None
    sentences = load_for(tagger, corpus, format) if tagger else load(corpus, format, guideline)
    with opened(store) as questions:
        from tagweave.annotate import intake
        from tagweave.annotate.task import Purpose

        version = intake.version_of(questions, model) if model else None
        if spans and purpose == "real":
            added = intake.put_spans(questions, sentences)
        elif spans:
            added = intake.put_known_spans(questions, sentences, Purpose(purpose), number, seed=seed)
        elif purpose != "real":
            added = intake.put_known(questions, sentences, Purpose(purpose), number, tagger, share, version, seed)
        elif tagger is None:
            added = intake.put_ambiguous(questions, sentences)
        else:
            added = intake.put_uncertain(questions, sentences, tagger, share, version, seed)
    say(f"{added:,} new tasks from {len(sentences):,} sentences")


def _check(purpose: str, model: str | None, spans: bool) -> None:
    if spans and model:
        raise OptionError("found --spans and --model, expected one of them: the labels of MODEL say what to ask")
    if purpose not in _PURPOSES:
        raise OptionError(f"unknown --as {purpose!r}, expected one of {', '.join(_PURPOSES)}")


def open_model(model: str, guideline: str | None, threads: int) -> ChainPredictor:
    """The model as a tagger of one of its guidelines, or of all layers of spans."""
    from tagweave.front.loading import load_model

    return load_model(model, threads).under([guideline] if guideline else ())


def rank(
    corpus: Annotated[str, argument("[G=]CORPUS[#LAYER]", "Sentences; - is standard input.")],
    model: Annotated[str, flag("MODEL", "Chooses what to ask, and shows candidates.")],
    output: Annotated[str, flag("FILE", "- is standard output.", "-o", "--output")] = "-",
    output_format: Annotated[
        str, flag("tsv|label-studio|doccano", "A table with scores, or tasks for a tool, in the same order.")
    ] = "tsv",
    guideline: Guideline = None,
    share: Share = 0.2,
    seed: options.Seed = 0,
    threads: options.Threads = 1,
    format: options.InputFormat = None,  # noqa: A002
) -> None:
    """List what to annotate next, in the order in which the server would ask it, for annotation without the server.

    The list has the tokens of `annotate import --model`, or, if the labels of MODEL code spans (B-PER, I-PER, O), the
    sentences whose spans it asks for.
    """
    from tagweave.annotate.selection import FORMS, ranked, write_tasks
    from tagweave.corpus.load import check_there
    from tagweave.streams.inputs import load_for

    if output_format not in FORMS:
        raise OptionError(f"unknown --output-format {output_format!r}, expected one of {', '.join(FORMS)}")
    check_there(corpus)
    check_outputs([output], [corpus, model])
    tagger = open_model(model, guideline, threads)
    if tagger.model.of_characters:
        raise OptionError(f"found {model}, a model that segments, expected one of words")
    sentences = load_for(tagger, corpus, format)
    tasks = ranked(tagger, sentences, share, seed)
    if not tasks:
        raise OptionError(f"{corpus}: found nothing to ask, expected labels that are open: {output} is not written")
    write_tasks(tasks, output, output_format)
    say(f"{len(tasks):,} tasks from {len(sentences):,} sentences")


_JUDGEMENTS = "jsonl"


def export(
    store: StoreUrl,
    output: options.Output,
    guideline: Annotated[
        str | None, flag("G", "The guideline of the tasks, if there are several; judgements cover all.")
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        flag("conllu|columns|kytea|jsonl", "Words, words, characters, judgements. Default: by the name of FILE."),
    ] = None,
    ambiguous: Annotated[
        bool, switch("Where annotators never agreed, allow all labels that they chose.", "--ambiguous")
    ] = False,
    by_annotator: Annotated[
        bool, switch("Columns: what each annotator said, agreed on or not, in a column for each.", "--by-annotator")
    ] = False,
) -> None:
    """Write the agreed answers as a partial corpus, what each annotator said, or every judgement as a line of JSON.

    In a partial corpus (CoNLL-U, columns, or KyTea's format for characters) everything that nobody was asked about is
    unknown. Spans are labels in IOB2.
    Without answers, nothing is written.
    """
    form = format or _format_of_name(output)
    if form is None:
        raise OptionError(
            f"found the name {output} without a format, expected --format conllu, columns, kytea or jsonl"
        )
    other = "--ambiguous" if ambiguous else form
    if by_annotator and other != "columns":
        raise OptionError(f"found --by-annotator with {other}, expected columns alone")
    check_outputs([output], [store.removeprefix("sqlite:///")])
    with opened(store) as answers:
        from tagweave.annotate.export import write, write_by_annotator

        answers_guideline = guideline or ("" if form == _JUDGEMENTS else _only_guideline(answers))
        if by_annotator:
            count = write_by_annotator(answers, output, answers_guideline)
        else:
            count = write(answers, output, form, answers_guideline, ambiguous)
    if not count:
        answers_told = f"answers of {answers_guideline}{'' if by_annotator else ' that were agreed on or decided'}"
        what = "judgements" if form == _JUDGEMENTS else answers_told
        raise OptionError(f"{store}: found no {what}, expected some: {output} is not written")
    say(f"{output}: {count:,} {'judgements' if form == _JUDGEMENTS else 'sentences'}")


def _only_guideline(answers: Store) -> str:
    guidelines = answers.task_guidelines()
    if len(guidelines) != 1:
        names = f"one of {', '.join(guidelines)}" if guidelines else "that of the tasks"
        raise OptionError(f"found no --guideline, expected {names}")
    return guidelines[0]


def _format_of_name(path: str) -> str | None:
    from tagweave.corpus.formats import columns, conllu, kytea

    endings = {
        ending: form.name for form in (conllu.FORMAT, columns.FORMAT, kytea.FORMAT) for ending in form.extensions
    }
    return {**endings, f".{_JUDGEMENTS}": _JUDGEMENTS}.get(PurePath(path.removesuffix(".gz")).suffix)


def notes(
    file: Annotated[str, argument("FILE", "A label per line, a tab, and a note for annotators.")],
    store: StoreUrl,
    guideline: Annotated[str, flag("G", "The guideline of the labels.")],
) -> None:
    """Store the labels of a guideline with a note on each, including labels that no model knows yet."""
    with opened(store) as labels:
        from tagweave.annotate.intake import put_notes, read_notes

        entries = read_notes(file)
        added = put_notes(labels, guideline, entries)
    say(f"{guideline}: {len(entries):,} labels, {added:,} of them new")
