"""Retraining on answers, and reranking the tasks by the new model.

The answers that were agreed on are written as a partial corpus, a command trains a model on it (`Plan.command`), and
the model is added to the store as a new version, which makes the server use it. The file of a version never changes.
So training can be killed at any point. The next one adds a model whose file exists but is not in the store, and trains
a model whose file does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tagweave.annotate import export, intake, selection, span_tasks
from tagweave.annotate.aggregation import Status
from tagweave.annotate.questions import ModelVersion
from tagweave.annotate.settings import Settings
from tagweave.annotate.store import Store
from tagweave.corpus.formats import conllu
from tagweave.corpus.load import load
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import ModelFileError, load_model
from tagweave.training.dev_score import dev_score
from tagweave.training.task import Task
from tagweave.training.training_command import ANNOTATED, MODEL, run

_PAGE = 100  # tasks ranked at a time: annotators should not wait for a longer transaction


@dataclass(frozen=True)
class Plan:
    """What is trained, and when.

    Attributes:
        url: the store.
        guideline: the guideline of the tasks.
        command: trains a model. Its words contain `ANNOTATED` and `MODEL`; it must write `MODEL` completely or not at
            all.
        folder: holds the models, corpora and logs; created if it does not exist.
        every: the number of new judgements after which a training begins.
        form: format of the partial corpus: CoNLL-U for words, columns for spans, KyTea's for characters.
        dev: a corpus argument; the accuracy on it is stored with the model.
        corpus: a corpus argument; its tokens that a new model is uncertain about become tasks, too.
        share: the share of these tokens.
        strategy: the measure of uncertainty, one of `selection.STRATEGIES`.
        settings: of the store, by which tasks are added and ranked.

    Raises:
        ValueError: fewer than one new judgement to wait for, or a command without the names of both files.
    """

    url: str
    guideline: str
    command: tuple[str, ...]
    folder: str
    every: int = 100
    form: str = conllu.FORMAT.name
    dev: str | None = None
    corpus: str | None = None
    share: float = 0.2
    strategy: str = "marginal"
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"found training after {self.every} judgements, expected 1 or more")
        for name in (ANNOTATED, MODEL):
            if not any(name in word for word in self.command):
                raise ValueError(f"found a command without {name}, expected one that reads {ANNOTATED}, writes {MODEL}")


def retrain(store: Store, plan: Plan, is_wanted: Callable[[], bool] = lambda: True) -> ModelVersion | None:
    """Train on all judgements so far, add the model, and rerank tasks; `None` if nothing is agreed on yet.

    Args:
        store: the store at the plan's URL.
        plan: what is trained.
        is_wanted: polled during the training, which ends when it returns False.

    Raises:
        CorpusError, ModelFileError: files that cannot be read.
        KeyError: a model that does not know the guideline.
        subprocess.CalledProcessError: the command failed; its output is in a file `.log` beside the model.
    """
    judgement = store.last_judgement()
    path = Path(plan.folder) / f"model-{judgement}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():  # otherwise a process ended between training the model and adding it
        annotated = path.with_suffix(f".{plan.form}")
        if not export.write(store, str(annotated), plan.form, plan.guideline):
            return None
        run(plan.command, annotated, path, is_wanted)
    try:
        model = load_model(path, ChainModel)
    except ModelFileError:
        path.unlink()  # so that it is trained again
        raise
    version = store.add_model(str(path), judgement, minutes(store), accuracy(model, plan.dev, plan.guideline))
    rank(store, plan, model, version)
    return store.models()[-1]


def rank(store: Store, plan: Plan, model: ChainModel, version: int) -> None:
    """Give open tasks the uncertainty and candidates of a model, and add tasks for what else it is uncertain about.

    Words of a list keep the rank with which they were imported.

    Raises:
        KeyError: the model does not know the guideline.
    """
    if model.of_characters:
        return
    tagger = ChainPredictor(model, guideline=plan.guideline)
    for page in store.task_pages(Status.OPEN, _PAGE):
        own = [each for each in page if each.task.guideline == plan.guideline]
        store.rank(version, selection.rankings(tagger, own, version, plan.strategy))
        if codes_spans(tagger.labels):
            store.rank(version, span_tasks.rankings(tagger, own, version, plan.strategy))
    if plan.corpus:
        corpus = load(plan.corpus, None, plan.guideline, model.layers(plan.guideline))
        intake.put_uncertain(store, corpus, tagger, plan.share, version, strategy=plan.strategy)


def minutes(store: Store) -> float:
    """Minutes of annotation by all annotators together."""
    return sum(store.progress(each.id).seconds for each in store.annotators()) / 60


def accuracy(model: ChainModel, dev: str | None, guideline: str) -> float | None:
    """The accuracy of a model on a corpus; of a segmenter, its F of words, and of a model of spans, its F of spans.

    `guideline` is that of a corpus that names none.
    """
    if dev is None:
        return None
    coding = Task(model.task, model.coding)
    return float(dev_score(model, coding.prepare(load(dev, None, guideline, model.layers(guideline))))(model.weights))
