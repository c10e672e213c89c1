"""What a server is made of: the words that are shown in a concordance, the plan of its trainings, and the socket."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from tagweave.annotate import kwic
from tagweave.annotate.aggregation import Status
from tagweave.annotate.app import application
from tagweave.annotate.retraining import Plan
from tagweave.annotate.site import WordList
from tagweave.annotate.store import Store
from tagweave.annotate.task import Purpose
from tagweave.corpus.formats import columns, conllu, kytea
from tagweave.corpus.text_file import read_lines
from tagweave.corpus.whole_file import whole_file
from tagweave.harvest.lexicon import read
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.again import again, exported
from tagweave.training.training_command import ANNOTATED, MODEL
from tagweave.web.server import listening, server


def check_training_phase(store: Store) -> None:
    """Raise where a store admits annotators after training, and has too few simulated tasks for it.

    Nobody gets one twice, so nobody would ever be admitted.

    Raises:
        ValueError: too few.
    """
    admission, count = store.settings.admission, store.counts().get((Purpose.TRAINING, Status.OPEN), 0)
    if admission is not None and count < admission.questions:
        expected = f"{admission.questions} or more: tagweave annotate import --as training"
        raise ValueError(f"found `admit` and {count} simulated tasks in the store, expected {expected}")


def word_list(words: str, corpus: str, guideline: str, tell: Callable[[str], None]) -> WordList:
    """The words of a list that occur in a text, and the index of the text, beside it.

    Args:
        words: the file of the list.
        corpus: the text, one sentence a line.
        guideline: of the answers.
        tell: takes a line on how many occur.

    Raises:
        ValueError: none of them occurs.
        CorpusError, OSError: a file cannot be read.
    """
    concordance = kwic.build(read_lines(corpus), f"{corpus}.kwic")
    wanted = [word for word in read(words).words if 0 < len(word) <= kwic.LONGEST]
    present = tuple(word for word, count in zip(wanted, concordance.counts(wanted).tolist(), strict=True) if count)
    if not present:
        raise ValueError(f"found none of {len(wanted):,} words of {words} in {corpus}, expected some")
    tell(f"{len(present):,} of {len(wanted):,} words occur in {len(concordance):,} lines")
    return WordList(concordance, present, guideline, corpus)


def training_plan(url: str, tagger: ChainPredictor, train: Sequence[str], folder: str) -> Plan:
    """Training as a model was trained, on corpora and what was agreed on.

    Args:
        url: of the store.
        tagger: the model, under the guideline of the answers.
        train: corpus arguments.
        folder: where new models go, and the training plan; made where it is not there.

    Raises:
        ValueError: a system without locks of files.
        PlanError: the model does not tell how it was trained.
    """
    if find_spec("fcntl") is None:
        raise ValueError("found `train` on a system without fcntl, as Windows, expected it without")
    form = _exported_as(tagger)
    annotated = exported(tagger.guideline, form, "")
    plan = again(tagger.model.about, tagger.guideline, train, annotated)
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = Path(folder, "plan.json")
    with whole_file(file) as part:
        part.write_text(json.dumps(plan.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    words = (sys.executable, "-m", "tagweave.training", str(file), MODEL, ANNOTATED)
    return Plan(url, tagger.guideline, words, folder, form=form)


def _exported_as(tagger: ChainPredictor) -> str:
    """The format of the answers that a model is trained on. Spans keep their columns, which features may look at."""
    if tagger.model.of_characters:
        return kytea.FORMAT.name
    return columns.FORMAT.name if codes_spans(tagger.labels) else conllu.FORMAT.name


def run(
    store: Store,
    words: WordList | None,
    host: str,
    port: int,
    url: str | None,
    proxies: Sequence[str],
    tell: Callable[[str], None],
) -> None:
    """Serve the pages of a store until somebody ends it.

    Args:
        store: of the answers.
        words: what is shown in a concordance, if anything.
        host, port: where to listen; port 0 is any that is free.
        url: the address for links; `None`: where it listens.
        proxies: addresses and networks whose X-Forwarded headers are believed.
        tell: takes the address, once it listens.

    Raises:
        OSError: the address cannot be listened on.
    """
    logging.basicConfig(format="%(asctime)s %(message)s")
    with listening(host, port) as (opened, address):
        tell(f"{address}/")
        server(application(store, url or address, words), proxies).run([opened])
