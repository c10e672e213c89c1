"""Train one tagger, segmenter or parser from corpora that are incomplete, ambiguous, or disagree.

    import tagweave as tw

    model = tw.train("ctb=ctb.txt", dev="ctb=dev.txt")
    model.tag(["他", "在", "看", "书"])

Names are imported on first use: `import tagweave` alone takes a millisecond.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tagweave.version import __version__

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Sentence
    from tagweave.errors import TagweaveError
    from tagweave.front.card import model_card, pull, push
    from tagweave.front.check import check
    from tagweave.front.comparison import compare
    from tagweave.front.corpora import load, save
    from tagweave.front.distillation import distill
    from tagweave.front.evaluation import evaluate
    from tagweave.front.exchange import read_documents, write_documents
    from tagweave.front.harvest import (
        harvest_clusters,
        harvest_clusters_files,
        harvest_gazetteer,
        harvest_gazetteer_files,
        harvest_lexicon,
        harvest_lexicon_files,
        harvest_markup,
        harvest_markup_files,
    )
    from tagweave.front.loading import load_model
    from tagweave.front.many_files import (
        complete_files,
        convert_files,
        harvest_lexicon_folder,
        harvest_markup_folder,
        label_files,
    )
    from tagweave.front.model import Model
    from tagweave.front.sources import aggregate, apply_functions, compare_sources
    from tagweave.front.training import train, tune
    from tagweave.sources.functions import labelling_function
    from tagweave.training.plan import Plan

_NAMES = {
    "corpus.corpus": "Corpus",
    "corpus.sentence": "Sentence",
    "errors": "TagweaveError",
    "front.card": "model_card pull push",
    "front.check": "check",
    "front.corpora": "load save",
    "front.distillation": "distill",
    "front.comparison": "compare",
    "front.evaluation": "evaluate",
    "front.exchange": "read_documents write_documents",
    "front.harvest": "harvest_clusters harvest_clusters_files harvest_gazetteer harvest_gazetteer_files"
    " harvest_lexicon harvest_lexicon_files harvest_markup harvest_markup_files",
    "front.many_files": "complete_files convert_files harvest_lexicon_folder harvest_markup_folder label_files",
    "front.loading": "load_model",
    "front.model": "Model",
    "front.sources": "aggregate apply_functions compare_sources",
    "front.training": "train tune",
    "sources.functions": "labelling_function",
    "training.plan": "Plan",
}
"""The names of each module, which is imported when one of them is asked for."""
_HOMES = {name: f"tagweave.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Corpus",
    "Model",
    "Plan",
    "Sentence",
    "TagweaveError",
    "__version__",
    "aggregate",
    "apply_functions",
    "check",
    "compare",
    "compare_sources",
    "complete_files",
    "convert_files",
    "distill",
    "evaluate",
    "harvest_clusters",
    "harvest_clusters_files",
    "harvest_gazetteer",
    "harvest_gazetteer_files",
    "harvest_lexicon",
    "harvest_lexicon_files",
    "harvest_lexicon_folder",
    "harvest_markup",
    "harvest_markup_files",
    "harvest_markup_folder",
    "label_files",
    "labelling_function",
    "load",
    "load_model",
    "model_card",
    "pull",
    "push",
    "read_documents",
    "save",
    "train",
    "tune",
    "write_documents",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tagweave' has no attribute {name!r}; it has {', '.join(_HOMES)}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
