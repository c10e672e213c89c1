"""`tagweave tag`: text to labelled text, by a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError

if TYPE_CHECKING:
    from tagweave.cli.labelling import Labelling
    from tagweave.models.tagger import Tagger


def tag(
    model: options.Model,
    input: Annotated[str, typer.Argument(metavar="INPUT[#LAYER]", help="Text; - is standard input.")] = "-",  # noqa: A002
    output: options.Output = "-",
    to: options.Guideline = None,
    format: options.InputFormat = None,  # noqa: A002
    output_format: options.OutputFormat = None,
    retag: Annotated[bool, typer.Option("--retag", help="Put aside the labels that the input already has.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Rows of token, label and its marginal probability instead of text.")
    ] = False,
    best: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="JSON lines of the K best sequences and their probabilities.")
    ] = None,
    threads: options.Threads = 1,
) -> None:
    """Label text, a stream of any length in constant memory.

    A model of words reads words in any format; a token that has a label keeps it, one with several gets one of them. A
    model that segments reads raw text, one sentence a line, and writes words. Blanks in raw text are boundaries.

    --probabilities writes rows `token TAB label TAB probability`, tokens of a segmenter being characters, and an empty
    line after each sentence. --best writes a JSON object a sequence: sentence, rank, probability, tokens, labels.
    """
    from tagweave.cli.filled import write
    from tagweave.cli.labelling import Labelling

    if probabilities and best:
        raise OptionError("found --probabilities and --best, expected one of them")
    if (probabilities or best) and output_format:
        raise OptionError("found --output-format with --probabilities or --best, expected it without")
    labelling = Labelling(open_tagger(model, to, threads), input, format, retag)
    with _retag_suggested():
        if probabilities:
            _write_lines(output, probability_rows(labelling))
        elif best:
            _write_lines(output, best_lines(labelling, best))
        else:
            write(labelling, output, output_format, partial=False)


@contextmanager
def _retag_suggested() -> Iterator[None]:
    """Where the input has a label that the model does not know, perhaps of another guideline: say what can be done."""
    from tagweave.corpus.errors import CorpusError
    from tagweave.labels.space import UnknownLabelError

    try:
        yield
    except CorpusError as error:
        if isinstance(error.__cause__, UnknownLabelError):
            raise OptionError(f"{error}; --retag puts the labels of the input aside") from error
        raise


def open_tagger(model: str, to: str | None, threads: int) -> Tagger:
    """The model as a tagger.

    Raises:
        OptionError: the model does not know the guideline `to`.
        ModelFileError, FileNotFoundError: as `load_model`.
    """
    from tagweave.models.storage import load_model
    from tagweave.models.tagger import Tagger

    tagger = Tagger(load_model(model), threads)
    if to is not None and to != tagger.guideline:
        raise OptionError(f"found --to {to}, expected {tagger.guideline}, the guideline of {model}")
    return tagger


def probability_rows(labelling: Labelling) -> Iterator[str]:
    """A row a token with the label of the best sequence and its marginal probability, and "" after each sentence."""
    tagger = labelling.tagger
    column = {name: at for at, name in enumerate(tagger.labels)}
    for block in labelling.blocks():
        labelled = tagger.complete(block.evidence)
        tables = tagger.probabilities(block.evidence.sentences, tagger.guideline, block.evidence.covered)
        for sentence, table in zip(labelled, tables, strict=True):
            for form, candidates, row in zip(sentence.forms, sentence.layers[tagger.guideline], table, strict=True):
                label = (candidates or ("",))[0]
                yield f"{form}\t{label}\t{row[column[label]]:.6f}"
            yield ""


def best_lines(labelling: Labelling, k: int) -> Iterator[str]:
    """The k best sequences of every sentence that its evidence allows, with their probabilities under it."""
    tagger, number = labelling.tagger, 0
    for block in labelling.blocks():
        for sentence in block.evidence:
            number += 1
            for rank, ranked in enumerate(tagger.k_best(sentence, k, tagger.guideline, block.evidence.covered), 1):
                found = {"sentence": number, "rank": rank, "probability": ranked.probability}
                yield json.dumps({**found, **_tokens(labelling, sentence.forms, ranked.labels)}, ensure_ascii=False)


def _tokens(labelling: Labelling, forms: tuple[str, ...], labels: tuple[str, ...]) -> dict[str, list[str]]:
    """The words of a sequence and, if it has any, their labels."""
    from tagweave.labels.coding import to_words

    words, tags = to_words(forms, labels) if labelling.of_characters else (forms, labels)
    return {"tokens": list(words), "labels": list(tags)} if any(tags) else {"tokens": list(words)}


def _write_lines(output: str, lines: Iterator[str]) -> None:
    from tagweave.corpus.text_file import written

    with written(output) as stream:
        stream.writelines(line + "\n" for line in lines)
