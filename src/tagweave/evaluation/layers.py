"""Reports on all layers of a gold standard in which systems could differ from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tagweave.cluster.in_process import IN_PROCESS
from tagweave.corpus.printable import printable
from tagweave.evaluation.console import table_console, tables_as_html, tables_as_text
from tagweave.evaluation.report import Report, evaluate

if TYPE_CHECKING:
    from rich.console import Console

    from tagweave.cluster.executor import Executor
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import HeadLayer, Layer, Sentence
    from tagweave.evaluation.attachment import Relations


@dataclass(frozen=True, slots=True)
class LayerReports:
    """Reports on systems against one gold standard, layer by layer.

    Attributes:
        reports: a report for each layer.
        copied: layers that are the same in all systems and the gold standard, and so are no evidence about systems.
        absent: layers of the gold standard that no system has.
    """

    reports: dict[str, Report]
    copied: tuple[str, ...]
    absent: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The reports as a plain dict."""
        layers = {name: report.to_json() for name, report in self.reports.items()}
        return {"layers": layers, "copied": list(self.copied), "absent": list(self.absent)}

    def __str__(self) -> str:
        return tables_as_text(self.render)

    def _repr_html_(self) -> str:
        """The tables in a notebook."""
        return tables_as_html(self.render)

    def render(self, console: Console | None = None) -> None:
        """Print the tables of every layer, and a line for layers that are not scored."""
        if console is None:
            console = table_console()
        for name, report in self.reports.items():
            console.print(f"layer {printable(name)}", markup=False)
            report.render(console)
        unscored = (("the same in all systems as in the gold standard", self.copied), ("in no system", self.absent))
        for why, names in unscored:
            if names:
                console.print(f"not scored: {printable(', '.join(names))}: {why}", markup=False)


def layers_of(corpus: Corpus) -> list[str]:
    """The names of all layers of labels and of heads."""
    return list(dict.fromkeys(name for sentence in corpus for name in (*sentence.layers, *sentence.heads)))


def evaluate_layers(
    gold: Corpus,
    systems: Mapping[str, Corpus],
    training: Corpus | None = None,
    punctuation: bool = True,
    relations: Relations = "universal",
    executor: Executor = IN_PROCESS,
) -> LayerReports:
    """A report on each layer in which the gold standard and some system differ; on all layers if they differ in none.

    Layers are compared by name. If a system has no layer with the name of the gold standard's guideline, the layer of
    its own guideline is compared instead. A system whose layer is unknown everywhere is left out of the report on it.
    Arguments are as for `evaluate`.

    Raises:
        CorpusError, ValueError: as `evaluate`.
    """
    having = {name: _having(name, gold, systems) for name in layers_of(gold) if _is_known(gold, name)}
    absent = tuple(name for name, corpora in having.items() if not corpora)
    copied = tuple(
        name
        for name, corpora in having.items()
        if corpora and all(_is_copied(gold, name, corpus) for corpus in corpora.values())
    )
    scored = [name for name in having if name not in (*absent, *copied)]
    if not scored:
        scored, copied = list(copied), ()
    reports = {
        name: evaluate(replace(gold, guideline=name), having[name], training, punctuation, relations, executor)
        for name in scored
    }
    if not reports:  # only words can be compared, or nothing
        report = evaluate(gold, systems, training, punctuation, relations, executor)
        reports, absent = {gold.guideline: report}, ()
    return LayerReports(reports, copied, absent)


def _having(name: str, gold: Corpus, systems: Mapping[str, Corpus]) -> dict[str, Corpus]:
    """The systems with known positions in a layer, which becomes their guideline."""
    having = {}
    for system, corpus in systems.items():
        is_own = name == gold.guideline and name not in layers_of(corpus)
        layer = corpus.guideline if is_own else name
        if _is_known(corpus, layer):
            having[system] = replace(corpus, guideline=layer)
    return having


def _layer(sentence: Sentence, name: str) -> Layer | HeadLayer:
    return sentence.heads.get(name) or sentence.layers.get(name) or (None,) * len(sentence)


def _is_known(corpus: Corpus, name: str) -> bool:
    return any(candidates is not None for sentence in corpus for candidates in _layer(sentence, name))


def _is_copied(gold: Corpus, name: str, system: Corpus) -> bool:
    return len(gold) == len(system) and all(
        one.forms == other.forms and _layer(one, name) == _layer(other, system.guideline)
        for one, other in zip(gold, system, strict=True)
    )
