"""Many sources of annotation: `python -m reproductions sources`.

See README.md in the folder above.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reproductions.lab.cache import Cache
from reproductions.lab.comparison import TRIALS
from reproductions.lab.corpora import all_corpora
from reproductions.lab.options import study_parser
from reproductions.lab.page import write_page
from reproductions.sources import aggregation, alone, crowd_training, few, page, priors, weak
from reproductions.sources.weak_page import weak_lines
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.sources.answers import Answers
from tagweave.sources.layers import SourceCorpus, load_sources

PARTS = ("aggregation", "alone", "few", "priors", "training", "weak")


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("sources", __doc__)
    parser.add_argument("--only", action="append", choices=PARTS, help="a part (repeatable; default: all)")
    parser.add_argument("--rivals", type=Path, metavar="PYTHON", help="the Python of an environment with the rivals")
    parser.add_argument("--seeds", type=int, default=2, help="of simulated crowds, and of trainings")
    parser.add_argument("--sentences", type=int, help="of every corpus, to see that it works")
    options = parser.parse_args(words)
    if options.rivals is None and "weak" in (options.only or PARTS):
        parser.error("expected --rivals for the part weak: its lists are in that environment")
    for part in options.only or PARTS:
        if part == "aggregation":
            _aggregation(options.rivals, options.sentences, options.out)
        elif part == "alone":
            command = f"python -m reproductions sources --only alone --seeds {options.seeds}"
            numbers = {"command": command, "rows": alone.study(options.seeds, Cache(options.cache), _say)}
            write_page(options.out, "sources-alone", numbers, alone.lines(numbers))
        elif part == "few":
            numbers = {"command": "python -m reproductions sources --only few", **few.study(options.sentences, _say)}
            write_page(options.out, "sources-few", numbers, few.few_lines(numbers))
        elif part == "weak":
            command = f"python -m reproductions sources --only weak --rivals PYTHON --seeds {options.seeds}"
            command += f" --sentences {options.sentences}" if options.sentences else ""
            numbers = weak.study(options.rivals, options.seeds, options.sentences, Cache(options.cache), _say)
            found = {"command": command, **numbers}
            write_page(options.out, "sources-weak", found, weak_lines(found))
        elif part == "training":
            _training(options.seeds, options.sentences, options.cache, options.out)
        else:
            found = {
                "command": f"python -m reproductions sources --only priors --seeds {options.seeds}",
                "crowds": [priors.table(each, options.seeds, options.sentences, _say) for each in priors.CROWDS],
            }
            write_page(options.out, "sources-priors", found, page.priors_lines(found))


def _aggregation(python: Path | None, sentences: int | None, out: Path) -> None:
    crowd = load_sources([str(all_corpora() / "en/crowd-ner/val.txt")], "3:", gold="2")
    answers, gold = answers_and_gold(crowd, sentences)
    rows = list(aggregation.rows(gold, answers, python, TRIALS, _say))
    found = {
        "command": "python -m reproductions sources --only aggregation" + (" --rivals PYTHON" if python else ""),
        "sources": len(answers.sources),
        "sentences": len(gold),
        "tokens": gold.tokens(),
        "answers": len(answers),
        "rows": rows,
    }
    write_page(out, "sources-aggregation", found, page.aggregation_lines(found, TRIALS))


def _training(seeds: int, sentences: int | None, cache: Path, out: Path) -> None:
    folder = all_corpora() / "en"
    crowd = load_sources([str(folder / "crowd-ner/val.txt")], "3:", gold="2")
    found: dict[str, Any] = {"command": f"python -m reproductions sources --only training --seeds {seeds}", "texts": []}
    for what, name, (answers, gold) in (
        ("`en/crowd-ner/val.txt`, 47 people", "conll2003/", answers_and_gold(crowd, sentences)),
        (f"`en/noisebench`, the noises {', '.join(few.FEW)}", "noisebench/clean.", few.answers_and_gold(sentences)),
    ):
        dev, test = (load(str(folder / f"{name}{part}.txt")) for part in ("dev", "test"))
        kept = (each.with_sentences(each.sentences[:sentences]) for each in (dev, test))
        about = {"sentences": sentences, "text": what}
        texts = crowd_training.Texts(answers, gold, *kept)
        rows = list(crowd_training.rows(texts, seeds, Cache(cache), TRIALS, _say, about))
        found["texts"].append({"what": what, "sentences": len(gold), "rows": rows})
    write_page(out, "sources-training", found, page.training_lines(found, TRIALS))


def answers_and_gold(crowd: SourceCorpus, sentences: int | None = None) -> tuple[Answers, Corpus]:
    """The answers of a crowd, and its gold standard beside them."""
    assert crowd.gold is not None
    kept = crowd.corpus.sentences[:sentences]
    answers = Answers.of_sentences(kept, crowd.sources)
    gold = replace(crowd.corpus, guideline=crowd.gold).with_sentences(
        each.with_layers_of([crowd.gold]) for each in kept
    )
    return answers, gold


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
