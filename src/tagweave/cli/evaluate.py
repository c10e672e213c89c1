"""`tagweave evaluate`, `compare`, `check` and `info`: scores, divergence, what may be wrong, and what files hold."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.console import OptionError, check_outputs, in_flags, show
from tagweave.cli.options import argument, flag, switch
from tagweave.streams import say


def evaluate(
    gold: Annotated[str, argument("GOLD", "The gold standard, [G=]FILE[#LAYER].")],
    systems: Annotated[list[str], argument("SYSTEM", "Outputs, or models; the others are compared with the first.")],
    train: Annotated[str | None, flag("FILE", "The training corpus, for scores of unknown words or spans.")] = None,
    layer: Annotated[str | None, flag("NAME", "The layer to compare, in files with several.")] = None,
    punctuation: Annotated[bool, switch("Whether punctuation counts in trees.")] = True,
    relations: Annotated[str, flag("universal|full", "Relations without or with their subtypes.")] = "universal",
    reliability: Annotated[
        str | None, flag("FILE.png", "Also draw how many answers of models are right, by their probability.")
    ] = None,
    format: options.InputFormat = None,  # noqa: A002
    errors: Annotated[
        str | None, flag("FILE", "Also write every mistake in its sentence, by kind: a page (.html) or a table (.tsv).")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Score systems by the metrics that suit the corpora, and test whether they differ significantly.

    The same words with labels: accuracy; with labels of spans (B-PER I-PER O): precision, recall and F of spans. Other
    words, or characters: precision, recall and F of words. Heads: attachment scores. For files with several layers,
    each layer that differs between files is reported; --layer or #LAYER selects one.

    A model labels the text of the gold standard. How far its probabilities are to be believed is reported, too: the
    expected calibration error, and how many answers of each tenth are right.
    """
    from tagweave.front.comparison import evaluate_files

    if relations not in ("universal", "full"):
        raise OptionError(f"found --relations {relations}, expected universal or full")
    if errors is not None and not errors.lower().endswith((".html", ".htm", ".tsv")):
        raise OptionError(f"found --errors {errors}, expected a file .html or .tsv")
    check_outputs([errors, reliability], [gold, *systems])
    report = evaluate_files(
        gold,
        systems,
        layer,
        train,
        format,
        reliability,
        punctuation=punctuation,
        relations=relations,
        errors=errors,
    )
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False))
    else:
        report.render()


def compare(
    first: Annotated[str, argument("[G=]A[#LAYER]", "A corpus under one guideline.")],
    second: Annotated[str, argument("[G=]B[#LAYER]", "A corpus under the other.")],
    model: Annotated[str | None, flag("MODEL", "A model of both guidelines, for corpora of different text.")] = None,
    format: options.InputFormat = None,  # noqa: A002
    threads: options.Threads = 1,
) -> None:
    """Show which tags of two guidelines occur at the same tokens, how often, and on which words.

    If both corpora have the same sentences, pairs of tags are counted. For different text, a model of both guidelines
    (--model) gives the probabilities of the missing tags, and pairs are counted by probability.
    """
    from tagweave.evaluation.divergence import tables
    from tagweave.evaluation.tables import show as show_tables
    from tagweave.front.comparison import compare_files

    show_tables(tables(compare_files(first, second, model, format, threads)))


def check(
    corpus: Annotated[str, argument("[G=]FILE[#LAYER]", "The annotation to check.")],
    output: Annotated[str, flag("FILE", "- is standard output.", "-o", "--output")] = "-",
    task: Annotated[str | None, flag("tag|segment|segtag|spans|parse", "As for train. Default: by the labels.")] = None,
    top: Annotated[
        int | None, flag("N", "List the N most suspicious. Default: a suspicion of 0.1 or more.", least=1)
    ] = None,
    output_format: Annotated[
        str | None,
        flag(
            "tsv|html|label-studio|doccano|columns",
            "A table, a page, or tasks: columns are for annotate import. Default: by the name of FILE, or tsv.",
        ),
    ] = None,
    believed: Annotated[
        str | None,
        flag("FILE", "Also write the corpus, with the confidence 1 - suspicion in each label, to train from."),
    ] = None,
    folds: Annotated[int, flag("N", "Cut the text into N parts; models of the others judge each.", least=2)] = 5,
    rounds: Annotated[
        int | None,
        flag("N", "Cut it N times, each believing labels as far as those before. Default: 4, trees 1.", least=1),
    ] = None,
    seed: options.Seed = 0,
    format: options.InputFormat = None,  # noqa: A002
    threads: options.Threads = 1,
) -> None:
    """List the labels of a corpus that may be wrong, the most suspicious first.

    Models that have not seen a sentence judge its labels, spans, words or heads. Each suspect comes with what the
    models would say, both probabilities, and the sentence. What the corpus leaves open is not judged.
    """
    from tagweave.cli.terminal import status_line
    from tagweave.front.check import FORMS
    from tagweave.front.check import check as judge
    from tagweave.front.corpora import load

    form = output_format or PurePath(output).suffix.removeprefix(".")
    if form not in FORMS:
        if output_format:
            raise OptionError(f"found --output-format {form}, expected one of {', '.join(FORMS)}")
        form = "columns" if form in ("col", "conll", "iob", "bio") else "tsv"
    check_outputs([output, believed], [corpus])
    with status_line("judging") as progress:
        checked = judge(load(corpus, format), task, folds, rounds, seed, threads, say, progress)
    if believed:
        checked.write_believed(believed)
    checked.write(output, form, top)
    say(str(checked))


def info(
    files: Annotated[list[str], argument("FILE", "Corpora ([G=]FILE[#LAYER]) and models.")],
    format: options.InputFormat = None,  # noqa: A002
    sources: options.Sources = None,
    as_json: options.AsJson = False,
) -> None:
    """Describe files: corpora (how much of each layer is known, ambiguous, unknown) and models.

    With --sources, describe who says what in them: how many tokens each source labels (coverage), how many of these
    others label too (overlap) or contradict (conflict), and how far they agree beyond chance (Krippendorff's alpha).
    All files are one corpus then, or with --sources files each is a source of the same text.

    --json writes one object per line for each file, or with --sources one.
    """
    from tagweave.cli.terminal import show_corpus, show_sources
    from tagweave.front.description import describe, model_lines, warnings_beside

    if sources:
        from tagweave.front.sources import describe_sources

        description = describe_sources(files, sources, format)
        if as_json:
            typer.echo(json.dumps(description, ensure_ascii=False))
        else:
            show_sources(description)
        return
    descriptions = []
    for file in files:
        description = describe(file, format)
        descriptions.append(description)
        if as_json:
            typer.echo(json.dumps(description, ensure_ascii=False))
        elif description["kind"] == "model":
            for line in model_lines(description):
                show(line)
        else:
            show_corpus(description)
    for line in warnings_beside(descriptions):
        say(in_flags(line))
