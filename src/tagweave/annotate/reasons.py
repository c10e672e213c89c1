"""Why the model that chose a task says what it does there, as tables of the page of tasks."""

from __future__ import annotations

from functools import lru_cache

from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask
from tagweave.display.markup import Html
from tagweave.evaluation.tables import tables_as_html
from tagweave.explanation.labels import LabelExplainer
from tagweave.front.loading import load_model
from tagweave.front.model import Model
from tagweave.labels import LAYERS


def reasons(store: Store, task: AnnotationTask, token: int | None) -> Html | None:
    """Return why the model of a task says what it does of a token, or of all; `None` if its file is not there.

    Raises ExplanationError for a token beyond the sentence, ModelFileError for a damaged file.
    """
    path = next((model.path for model in store.models() if model.version == task.model), None)
    if path is None:
        return None
    try:
        model = _loaded(path)
    except FileNotFoundError:  # a correction that another one has replaced
        return None
    sentence = task.sentence.with_layers_of(())
    if model.trained.kind == LAYERS:
        return tables_as_html(model.why(sentence, token).content())
    explainer = LabelExplainer(model.chain, task.guideline, model.under([task.guideline]).tokens([sentence]))
    return tables_as_html(explainer.explain(0, token).content())


@lru_cache(2)
def _loaded(path: str) -> Model:
    return load_model(path)
