"""Model cards, with scores and speed, as Markdown for the Hugging Face hub; models to and from the hub."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from tagweave.corpus.characters import printable
from tagweave.corpus.files import read_lines, short_name, whole_file, written
from tagweave.errors import CorpusError
from tagweave.evaluation.report import evaluate
from tagweave.evaluation.score import interval
from tagweave.front.corpora import load
from tagweave.front.description import calibration_line, describe_model, parts_of
from tagweave.front.loading import load_model
from tagweave.models.hub import CARD, MODEL, PREFIX, endpoint, fetched, hub_name, told
from tagweave.models.selective import is_promised
from tagweave.models.storage import describe_model as check_model
from tagweave.version import __version__


@dataclass(frozen=True)
class Scored:
    """The scores of a model on a corpus, and its speed."""

    corpus: str
    sentences: int
    metrics: dict[str, tuple[float, float, float]]  # the score, 0..1, and the ends of its 95 % interval
    speed: float  # tokens a second
    threads: int

    def result(self, task: str) -> dict[str, Any]:
        """As an entry of `model-index` in the hub's front matter."""
        name = short_name(self.corpus)
        return {
            "task": {"type": task},
            "dataset": {"name": name, "type": name},
            "metrics": [
                {"type": name, "name": f"{name}, 95 % interval {low:.4f} to {high:.4f}", "value": round(value, 4)}
                for name, (value, low, high) in self.metrics.items()
            ],
        }


def score_on(model: str, argument: str, threads: int = 1) -> Scored:
    """Measure a model on the corpus `[GUIDELINE=]PATH[#LAYER]`. Raises as `load_model`, `load` and `evaluate`."""
    loaded = load_model(model, threads)
    gold = load(argument)
    loaded.relabelled(gold.with_sentences(gold.sentences[:1]))  # what the first use compiles or makes is not speed
    begin = time.perf_counter()
    output = loaded.relabelled(gold)
    seconds = time.perf_counter() - begin
    measures = evaluate(gold, {"model": output}).systems["model"].measures()
    if not measures:
        raise CorpusError("nothing to score", "a corpus with annotation", gold.path)
    metrics = {name: (measure.score, *interval(measure)) for name, measure in measures.items()}
    return Scored(gold.path, len(gold), metrics, gold.tokens() / seconds, threads)


PIPELINES = {"tag": "token-classification", "spans": "token-classification"}
"""What the hub calls tasks; of others it has no name."""
UNKNOWN = "not given"
_SHOWN = 60  # labels of a guideline


def model_card(
    model: str | PathLike[str],
    tests: Sequence[str] = (),
    licence: str | None = None,
    languages: Sequence[str] = (),
    use: str | None = None,
    title: str | None = None,
    repository: str | None = None,
    threads: int = 1,
) -> str:
    """The card of a model.

    What the model does not say (its licence, its languages, what it is for) is an argument, or is said not to be given.

    Args:
        model: its file, or `hf:OWNER/NAME`.
        tests: corpora `[GUIDELINE=]PATH[#LAYER]` to measure it on: scores with 95 % intervals, and speed.
        licence: an identifier of the hub, such as `mit` or `cc-by-sa-4.0`.
        languages: ISO codes, such as `zh`.
        use: what the model is for, a sentence or more.
        title: by default the name of the file.
        repository: `OWNER/NAME` on the hub, if it is known.
        threads: with how many threads speed is measured.

    Raises:
        ModelFileError: not a model.
        CorpusError, OSError: a corpus that cannot be read, or that the model is not for.
    """
    about = describe_model(fspath(model))
    scored = [score_on(fspath(model), test, threads) for test in tests]
    title = title or Path(fspath(model)).name
    lines = [*_front_matter(about, scored, licence, languages, title), "", f"# {title}", "", *_summary(about)]
    lines += ["", "## Intended use", "", use or f"{UNKNOWN.capitalize()}. {_LIMITS}", ""]
    lines += ["## Training data", "", *_data(about), "", "## Scores", "", *_scores(about, scored), ""]
    lines += ["## Use", "", *_usage(fspath(model), repository), "", "## Plan", "", *_plan(about)]
    return "\n".join(lines) + "\n"


def write_card(path: str, *arguments: Any, **options: Any) -> None:
    """Write the card of a model to a file, `-` for standard output. Takes and raises as `model_card`, and OSError."""
    text = model_card(*arguments, **options)
    with written(path) as stream:
        stream.write(text)


_LIMITS = (
    "A model is as good as its scores only on text like that of its training data, and it has learned what is in them,"
    " mistakes and imbalances included."
)


def _front_matter(
    about: Mapping[str, Any], scored: Sequence[Scored], licence: str | None, languages: Sequence[str], title: str
) -> Iterator[str]:
    """YAML, whose values are JSON, which is YAML, too: no text of the model can end a value."""
    task = about["task"]
    values: dict[str, Any] = {"library_name": "tagweave", "tags": ["tagweave", "conditional-random-field", task]}
    values |= {"license": licence} if licence else {}
    values |= {"language": list(languages)} if languages else {}
    values |= {"pipeline_tag": PIPELINES[task]} if task in PIPELINES else {}
    if scored:
        values["model-index"] = [
            {"name": title, "results": [scores.result(PIPELINES.get(task, task)) for scores in scored]}
        ]
    yield "---"
    yield from (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    yield "---"


def _summary(about: Mapping[str, Any]) -> Iterator[str]:
    kind = "dependency trees" if about["task"] == "parse" else "label sequences"
    yield f"A conditional random field over {kind}, for the task `{about['task']}`, of tagweave {about['version']}."
    yield ""
    yield "| | |"
    yield "| --- | --- |"
    yield f"| file | {about['bytes']:,} bytes |"
    sizes = about["about"].get("weights")
    if isinstance(sizes, Mapping):
        yield f"| weights | {', '.join(f'{cell(name)}: {size:,}' for name, size in sizes.items())} |"
    for guideline, names in about["labels"].items():
        shown = " ".join(f"`{cell(name)}`" for name in names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
        yield f"| {len(names)} labels of {cell(guideline)} | {shown} |"


def _data(about: Mapping[str, Any]) -> Iterator[str]:
    plan = about["about"].get("plan", {})
    corpora = [*((reference, "training") for reference in (*plan.get("target", ()), *plan.get("sources", ())))]
    corpora += [(plan["dev"], "development")] if plan.get("dev") else []
    if not corpora:
        yield f"{UNKNOWN.capitalize()}: the model has no plan."
        return
    yield "| file | for | guideline | sentences | sha256 |"
    yield "| --- | --- | --- | ---: | --- |"
    for reference, purpose in corpora:
        size = UNKNOWN if reference["size"] is None else f"{reference['size']:,}"
        row = (reference["path"], purpose, reference["guideline"] or "", size, reference["sha256"])
        yield f"| {' | '.join(cell(str(value)) for value in row)} |"
    if updates := about["about"].get("updates"):
        yield ""
        yield "Trained on the first of these; then, one after the other, the model went on from"
        yield ""
        yield "| model | to learn from |"
        yield "| --- | --- |"
        for update in updates:
            names = ", ".join(reference["path"] or "a corpus in memory" for reference in update["target"])
            yield f"| {cell(update['start']['path'])} ({update['start']['sha256'][:12]}) | {cell(names)} |"


def _scores(about: Mapping[str, Any], scored: Sequence[Scored]) -> Iterator[str]:
    dev = about["about"].get("dev_score")
    if dev is not None:
        yield f"On the development data, by which the iteration was chosen: {100 * dev:.2f}."
        yield ""
    for name, of_part in parts_of(about).items():
        of = f" of {cell(name)}" if name else ""
        if "calibration" in of_part:
            line = calibration_line(of_part["calibration"])
            yield f"Probabilities{of} are calibrated: scores are divided by a {cell(line)}. That changes no label."
            yield ""
        if "selective" in of_part:
            facts = of_part["selective"]
            yield from (*_levels({**facts, "of": facts["of"] + of}), "")
    if not scored:
        yield "Not measured on test data."
        return
    yield "| corpus | sentences | metric | score | 95 % interval | tokens a second |"
    yield "| --- | ---: | --- | ---: | --- | ---: |"
    for scores in scored:
        for metric, (value, low, high) in scores.metrics.items():
            numbers = f"{100 * value:.2f} | {100 * low:.2f} to {100 * high:.2f} | {scores.speed:,.0f}"
            yield f"| {cell(short_name(scores.corpus))} | {scores.sentences:,} | {metric} | {numbers} |"
    yield ""
    threads = scored[0].threads
    yield (
        "Intervals are of a bootstrap over sentences. Speed is that of one pass over the corpus"
        f" on one machine, with {threads} thread{'s' if threads > 1 else ''}."
    )


def _levels(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is promised with `--precision` and `--recall`, and what it costs."""
    of, units = facts["of"], facts["units"]
    yield (
        f"With `tagweave tag --precision LEVEL`, the share that is wrong of the {of} that are said is expected to be at"
        f" most 1 - LEVEL in text that is exchangeable with the {facts['count']:,} {units} of development data. The"
        " confidence is so high (0.990 for 0.95) that in as much new text at least LEVEL are right with a probability"
        " of about LEVEL. Types of spans are promised one by one, those that are too rare for that together."
        " `tagweave tag --recall LEVEL` promises the same for the share of all that is right that is among what is"
        " said. Not counted is that the iteration was chosen on the same data."
    )
    yield ""
    yield f"| | level | {of} said | not promised |"
    yield "| --- | ---: | ---: | --- |"
    for kind, rows in ((kind, facts[kind]) for kind in ("precision", "recall")):
        for row in rows:
            without = [cell(label) for label, least in sorted(row["least"].items()) if least is None]
            said = f"{100 * row['said']:.1f} %" if kind == "precision" else f"{row['said']:.2f} for one right one"
            said = said if is_promised(row, kind) else ""
            yield f"| {kind} | {row['level']:g} | {said} | {' '.join(without) if said else 'all'} |"


def _usage(file: str, repository: str | None) -> Iterator[str]:
    name = file if file.startswith(PREFIX) else f"{PREFIX}{repository or 'OWNER/NAME'}"
    yield from ("```sh", "pip install '.[hub]'  # in a checkout of tagweave", f"tagweave tag {name} TEXT", "```")


def _plan(about: Mapping[str, Any]) -> Iterator[str]:
    yield "`tagweave train --plan` carries it out again in a folder with these files."
    yield ""
    text = json.dumps(about["about"].get("plan", {}), indent=1, ensure_ascii=False)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))  # longer than any run in the text
    yield from (f"{fence}json", text, fence)


def cell(text: str) -> str:
    """A text as the content of a cell of a table, as it is."""
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("`", "'").replace("<", "&lt;")


def push(model: str | PathLike[str], name: str, card: str, private: bool = False) -> str:
    """Upload a model and its card, as one commit; the repository is made unless it is there.

    Args:
        model: its file.
        name: the repository, `OWNER/NAME`.
        card: the text of the card (`model_card`), which replaces the card of the repository.
        private: make a new repository private.

    Returns the address of the commit.

    Raises:
        ModelFileError, OSError: not a model.
        HubError: no network, or no token that may write.
    """
    check_model(fspath(model))
    target = hub_name(name)
    with told(str(target)) as hub:
        api = hub.HfApi(endpoint=endpoint())
        api.create_repo(target.repository, private=private, exist_ok=True)
        files = {MODEL: fspath(model), CARD: card.encode()}
        commit = api.create_commit(
            target.repository,
            [hub.CommitOperationAdd(file, content) for file, content in files.items()],
            commit_message=f"A model of tagweave {__version__}",
            revision=target.revision,
        )
        return str(commit.commit_url)


def push_with_card(model: str, name: str, card: str | None, private: bool = False) -> str:
    """Upload a model with the card in a file, or without one with `model_card`. Returns and raises as `push`."""
    repository = hub_name(name).repository
    if card is None:
        text = model_card(model, title=repository, repository=repository)
    else:
        text = "\n".join(read_lines(card)) + "\n"
    return push(model, name, text, private)


def pull(name: str, output: str | PathLike[str]) -> None:
    """Download a model, `[hf:]OWNER/NAME[@REVISION]`, to a file, which appears whole or not at all.

    Raises:
        HubError: no such repository, no model in it, or no network.
        ModelFileError: not a model.
        OSError: the file cannot be written.
    """
    path = fetched(hub_name(name))
    check_model(path)
    with whole_file(fspath(output)) as file:
        shutil.copyfile(path, file)
