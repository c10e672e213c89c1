"""`tagweave evaluate`, `compare`, `check` and `info`: scores, divergence, what may be wrong, and what files hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagweave.cli import options
from tagweave.cli.console import OptionError, add_row, check_outputs, in_flags, share, show
from tagweave.cli.options import argument, flag, switch
from tagweave.streams import say

if TYPE_CHECKING:
    from rich.console import Console

    from tagweave.corpus.corpus import Corpus


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
    raw: Annotated[bool, switch("Give models the raw text of the gold standard, not its tokens.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Score systems by the metrics that suit the corpora, and test whether they differ significantly.

    The same words with labels: accuracy; with labels of spans (B-PER I-PER O): precision, recall and F of spans. Other
    words, or characters: precision, recall and F of words. Heads: attachment scores. For files with several layers,
    each layer that differs between files is reported; --layer or #LAYER selects one.

    A model labels the text of the gold standard. How far its probabilities are to be believed is reported, too: the
    expected calibration error, and how many answers of each tenth are right.
    """
    from tagweave.corpus.load import parse_argument
    from tagweave.evaluation.report import Report
    from tagweave.exchange.load import load
    from tagweave.front.description import is_model
    from tagweave.front.evaluation import evaluate as report_of
    from tagweave.front.model import load_model

    if repeated := [system for at, system in enumerate(systems) if system in systems[:at]]:
        raise OptionError(f"found the system {repeated[0]} twice, expected each once")
    if relations not in ("universal", "full"):
        raise OptionError(f"found --relations {relations}, expected universal or full")
    if errors is not None and not errors.lower().endswith((".html", ".htm", ".tsv")):
        raise OptionError(f"found --errors {errors}, expected a file .html or .tsv")
    check_outputs([errors, reliability], [gold, *systems])

    def read(argument: str, unnamed: str | None = None) -> Corpus:
        of_layer = layer is not None and parse_argument(argument).layer is None
        return load(f"{argument}#{layer}" if of_layer else argument, format, unnamed)

    models = [system for system in systems if is_model(system)]
    if reliability and not models:
        raise OptionError("found --reliability without a model, expected one: other outputs have no probabilities")
    if reliability and raw:
        raise OptionError("found --reliability with --raw, expected one of them: it is that of gold tokens")
    gold_corpus = read(gold)
    outputs = {each: load_model(each) if each in models else read(each, gold_corpus.layer) for each in systems}
    is_named = layer is not None or any(parse_argument(each).layer for each in (gold, *systems))
    report = report_of(
        gold_corpus,
        outputs,
        all_layers=not is_named and not models,
        training=load(train, format) if train else None,
        punctuation=punctuation,
        relations="full" if relations == "full" else "universal",
        errors=errors,
        raw=raw,
    )
    if reliability and isinstance(report, Report):
        report.plot(reliability)
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False))
    else:
        report.render()


def compare(
    first: Annotated[str, argument("[G=]A[#LAYER]", "A corpus under one guideline.")],
    second: Annotated[str, argument("[G=]B[#LAYER]", "A corpus under the other.")],
    html: Annotated[str | None, flag("FILE", "Also write a page with more examples.")] = None,
    model: Annotated[str | None, flag("MODEL", "A model of both guidelines, for corpora of different text.")] = None,
    format: options.InputFormat = None,  # noqa: A002
    threads: options.Threads = 1,
) -> None:
    """Show which tags of two guidelines occur at the same tokens, how often, and on which words.

    If both corpora have the same sentences, pairs of tags are counted. For different text, a model of both guidelines
    (--model) gives the probabilities of the missing tags, and pairs are counted by probability.

    For head layers, named as A#head and B#head, relations are compared, and the positions of each token's two heads.
    Sentences with different tokens in the two corpora are left out.
    """
    from tagweave.corpus.load import check_there

    check_there(first, second)
    from tagweave.corpus.files import written
    from tagweave.evaluation.divergence_page import page, tables
    from tagweave.evaluation.tables import table_console
    from tagweave.exchange.load import load
    from tagweave.front.evaluation import compare as divergence_of

    check_outputs([html], [first, second, model])
    divergence = divergence_of(load(first, format), load(second, format), model, threads)
    if html:
        with written(html) as stream:
            stream.write(page(divergence))
    console = table_console()
    for table in tables(divergence):
        console.print(table)


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
            "tsv|json|html|label-studio|doccano|columns",
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
    from pathlib import PurePath

    from tagweave.cli.console import status_line
    from tagweave.corpus.load import check_there
    from tagweave.front.check import FORMS
    from tagweave.front.check import check as checked
    from tagweave.front.corpora import load

    form = output_format or PurePath(output).suffix.removeprefix(".")
    if form not in FORMS:
        if output_format:
            raise OptionError(f"found --output-format {form}, expected one of {', '.join(FORMS)}")
        form = "columns" if form in ("col", "conll", "iob", "bio") else "tsv"
    check_there(corpus)
    check_outputs([output, believed], [corpus])
    with status_line("judging") as progress:
        found = checked(load(corpus, format), task, folds, rounds, seed, threads, say, progress)
    if believed:
        found.write_believed(believed)
    found.write(output, form, top)
    say(str(found))


_LISTED = 10  # labels of a layer
_WIDTH = 60  # characters of the column that lists them


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
    from tagweave.evaluation.tables import table_console
    from tagweave.front.description import describe, describe_sources, model_lines
    from tagweave.training.inspection import SpanCounts, uncovered_types

    console = table_console()
    if sources:
        description = describe_sources(files, sources, format)
        if as_json:
            typer.echo(json.dumps(description, ensure_ascii=False))
        else:
            _show_sources(description, console)
        return
    counts = []
    for file in files:
        description = describe(file, format)
        if description["kind"] == "corpus":
            counts.append(SpanCounts.described(description))
        if as_json:
            typer.echo(json.dumps(description, ensure_ascii=False))
        elif description["kind"] == "model":
            for line in model_lines(description):
                show(line)
        else:
            _show_corpus(description, console)
    for line in uncovered_types(counts):
        say(in_flags(line))


def _show_corpus(corpus: dict[str, Any], console: Console) -> None:
    from rich.table import Table

    numbers = (f"{corpus[key]:,} {key}" for key in ("sentences", "tokens", "forms"))
    unit = "characters" if corpus["unit"] == "character" else "words"
    show(f"{corpus['file']}: corpus of {unit}, {', '.join(numbers)}")
    for line in filter(None, (corpus["reading"], *corpus["warnings"])):
        show(f"  {line}")
    if corpus["covered"] is not None:
        show(f"  only these labels or types were annotated: {' '.join(corpus['covered'])}")
    layers = {**corpus["layers"], **corpus["heads"]}
    if not layers:
        show("  no layers: nothing is annotated but the words")
        return
    table = Table("layer", "one label", "ambiguous", "unknown")
    table.add_column("most frequent", max_width=_WIDTH, overflow="fold")
    for name, layer in layers.items():
        frequent = " ".join(f"{label} {count:,}" for label, count in list(layer["labels"].items())[:_LISTED])
        shares = (share(layer[key], corpus["tokens"]) for key in ("full", "ambiguous", "unknown"))
        add_row(table, name, *shares, frequent)
    console.print(table)
    for name, layer in corpus["layers"].items():
        if "spans" in layer:
            show(f"  {name}: {_spans(layer, corpus['tokens'])}")
        if "rejected" in layer:
            show(f"  {name}: {layer['rejected']:,} rejected spans")


def _show_sources(description: dict[str, Any], console: Console) -> None:
    from tagweave.cli.sources import coverage_table

    unit = "characters" if description["unit"] == "character" else "words"
    numbers = f"{description['sentences']:,} sentences, {description['tokens']:,} tokens"
    tokens = description["tokens"]
    show(f"{', '.join(description['files'])}: {len(description['sources'])} sources on a corpus of {unit}, {numbers}")
    by_source = {"all": description["all"], **description["sources"]}
    console.print(coverage_table("source", by_source, tokens, "labels"))
    console.print(coverage_table("label", description["labels"], tokens, "sources"))


def _spans(layer: dict[str, Any], tokens: int) -> str:
    by_type = " ".join(f"{label} {count:,}" for label, count in layer["spans"].items())
    line = f"{sum(layer['spans'].values()):,} spans: {by_type}"
    if layer["full"] < tokens:
        return line
    return f"{line}; {100 * (1 - layer['labels'].get('O', 0) / tokens):.1f} % of the tokens are inside spans"
