"""`tagweave annotate export`: writes the answers, to train on or to study."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.annotate_store import StoreUrl, opened
from tagweave.cli.errors import OptionError
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say

_JUDGEMENTS = "jsonl"


def export(
    store: StoreUrl,
    output: options.Output,
    guideline: Annotated[
        str | None,
        typer.Option(metavar="G", help="The guideline of the tasks; not needed for judgements, which cover all."),
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            metavar="conllu|columns|kytea|jsonl",
            help="Words, words, characters, judgements. Default: by the name of FILE.",
        ),
    ] = None,
    ambiguous: Annotated[
        bool,
        typer.Option("--ambiguous", help="Where annotators never agreed, allow all labels that they chose."),
    ] = False,
    soft: Annotated[
        bool,
        typer.Option(
            "--soft",
            help="CoNLL-U, columns: labels with probabilities, by all answers, agreed on or not.",
        ),
    ] = False,
    by_annotator: Annotated[
        bool,
        typer.Option(
            "--by-annotator", help="Columns: what each annotator said, agreed on or not, in a column for each."
        ),
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
    if guideline is None and form != _JUDGEMENTS:
        raise OptionError("found no --guideline, expected that of the tasks")
    other = "--ambiguous" if ambiguous else "--soft" if soft and by_annotator else form
    if by_annotator and other != "columns":
        raise OptionError(f"found --by-annotator with {other}, expected columns alone")
    if soft and other not in ("columns", "conllu"):
        raise OptionError(f"found --soft with {other}, expected conllu or columns alone")
    check_outputs([output], [store.removeprefix("sqlite:///")])
    with opened(store) as answers:
        from tagweave.annotate.annotator_layers import write_by_annotator
        from tagweave.annotate.export import write
        from tagweave.annotate.soft_labels import write_soft

        of = guideline or ""
        if soft:
            count = write_soft(answers, output, form, of)
        elif by_annotator:
            count = write_by_annotator(answers, output, of)
        else:
            count = write(answers, output, form, of, ambiguous)
    if not count:
        of_guideline = f"answers of {guideline}{'' if by_annotator or soft else ' that were agreed on or decided'}"
        what = "judgements" if form == _JUDGEMENTS else of_guideline
        raise OptionError(f"{store}: found no {what}, expected some: {output} is not written")
    say(f"{output}: {count:,} {'judgements' if form == _JUDGEMENTS else 'sentences'}")


def _format_of_name(path: str) -> str | None:
    from tagweave.corpus.formats import columns, conllu, kytea

    endings = {
        ending: form.name for form in (conllu.FORMAT, columns.FORMAT, kytea.FORMAT) for ending in form.extensions
    }
    return {**endings, f".{_JUDGEMENTS}": _JUDGEMENTS}.get(PurePath(path.removesuffix(".gz")).suffix)
