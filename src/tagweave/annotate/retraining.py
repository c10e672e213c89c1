"""From answers to a new model, whose doubts rank the tasks anew.

What is agreed on is written as a partial corpus, a command makes a model of it (`Plan.command`), and the model is
entered as a new version: with that the server has it. The file of a version is never changed. So at whatever point
this is killed, the next training goes on: a model that is in its file but not in the store is entered, one that is not
in its file is trained again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tagweave.annotate import export, intake, selection
from tagweave.annotate.aggregation import Status
from tagweave.annotate.questions import Model
from tagweave.annotate.store import Store
from tagweave.annotate.training_command import ANNOTATED, MODEL, run
from tagweave.corpus.formats import conllu
from tagweave.corpus.load import load
from tagweave.models.chain import ChainModel
from tagweave.models.storage import ModelFileError, load_model
from tagweave.models.tagger import Tagger
from tagweave.training.dev_score import dev_score
from tagweave.training.task import Task

_PAGE = 100  # tasks that are ranked at a time: annotators wait for no longer transaction


@dataclass(frozen=True)
class Plan:
    """What is trained, and when.

    Attributes:
        url: of the store.
        guideline: of the tasks.
        command: trains a model; its words may contain `ANNOTATED` and `MODEL`, and `MODEL` must appear whole or not.
        folder: of the models and what belongs to them; made where it is not there.
        every: so many new judgements are waited for.
        form: of the partial corpus, the name of a format: CoNLL-U for words, KyTea's for characters.
        dev: a corpus argument; accuracy on it goes with the model.
        corpus: a corpus argument, from which the tokens that a new model doubts are asked for, too.
        share: of its tokens.
        strategy: which ones it doubts, one of `selection.STRATEGIES`.

    Raises:
        ValueError: no new judgement to wait for, or a command without the names of both files.
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

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"found training after {self.every} judgements, expected 1 or more")
        for name in (ANNOTATED, MODEL):
            if not any(name in word for word in self.command):
                raise ValueError(f"found a command without {name}, expected one that reads {ANNOTATED}, writes {MODEL}")


def retrain(store: Store, plan: Plan, is_wanted: Callable[[], bool] = lambda: True) -> Model | None:
    """Train on all judgements that are in, enter the model, and rank tasks; `None` where nothing is agreed on yet.

    Args:
        store: as the plan's.
        plan: what is trained.
        is_wanted: the training is ended when it no longer is.

    Raises:
        CorpusError, ModelFileError: files that cannot be read.
        KeyError: a model that does not know the guideline.
        subprocess.CalledProcessError: the command failed; what it said is beside the model, in a file `.log`.
    """
    judgement = store.last_judgement()
    path = Path(plan.folder) / f"model-{judgement}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():  # else a process ended between training and entering
        annotated = path.with_suffix(f".{plan.form}")
        if not export.write(store, str(annotated), plan.form, plan.guideline):
            return None
        run(plan.command, annotated, path, is_wanted)
    try:
        model = load_model(path, ChainModel)
    except ModelFileError:
        path.unlink()  # to be trained again
        raise
    version = store.add_model(str(path), judgement, minutes(store), accuracy(model, plan.dev, plan.guideline))
    rank(store, plan, model, version)
    return store.models()[-1]


def rank(store: Store, plan: Plan, model: ChainModel, version: int) -> None:
    """Give open tasks the uncertainty and candidates of a model, and ask for what else it doubts.

    Words of a list keep the rank with which they were put in.

    Raises:
        KeyError: the model does not know the guideline.
    """
    if model.coding:
        return
    tagger = Tagger(model, guideline=plan.guideline)
    for page in store.task_pages(Status.OPEN, _PAGE):
        own = [each for each in page if each.task.guideline == plan.guideline]
        store.rank(version, selection.rankings(tagger, own, version, plan.strategy))
    if plan.corpus:
        corpus = load(plan.corpus, unnamed=plan.guideline)
        intake.put_uncertain(store, corpus, tagger, plan.share, version, strategy=plan.strategy)


def minutes(store: Store) -> float:
    """Of annotation, by all annotators together."""
    return sum(store.progress(each.id).seconds for each in store.annotators()) / 60


def accuracy(model: ChainModel, dev: str | None, guideline: str) -> float | None:
    """Of a model on a corpus: the share of labels that are right; of a segmenter the F measure of words.

    A corpus that names no guideline is of this one.
    """
    if dev is None:
        return None
    coding = Task(model.task, model.coding) if model.coding else Task(model.task)
    return float(dev_score(model, coding.prepare(load(dev, unnamed=guideline)))(model.weights))
