"""One coupled model of three guidelines: `python -m reproductions three-guidelines`.

See README.md in the folder above.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import tagweave as tw
from reproductions.lab import page as lab
from reproductions.lab.cache import Cache, Result
from reproductions.lab.comparison import TRIALS, Measured, compare
from reproductions.lab.corpora import PARTS, Parts, corpora_folder, digest, of_sample, read_parts
from reproductions.lab.options import study_parser
from tagweave.evaluation.score import Counts, share_of_counts
from tagweave.learning.run import Silence

GUIDELINES = {"ctb": ("zh/zx", ""), "pd": ("zh/pd199801", ""), "ud": ("zh/udc", "upos")}
"""The corpus of each guideline, and its layer there."""
MODELS = (("ctb",), ("pd",), ("ud",), ("ctb", "pd"), ("ctb", "ud"), ("ctb", "pd", "ud"))
"""The guidelines of each model, its target first, whose development data stop training."""


def read(quick: bool) -> dict[str, Parts]:
    """The corpora by guideline; of the sample two of them, and first letters of PD's tags as the third."""
    if not quick:
        return {name: read_parts(corpora_folder(folder), name, layer) for name, (folder, layer) in GUIDELINES.items()}
    ctb, pd = (of_sample(f"{name}.txt", name) for name in ("ctb", "pd"))
    third = pd.map(
        lambda s: s.with_layers_of([]).with_layer("ud", [tags and (tags[0][:1],) for tags in s.layers["pd"]])
    )
    named = {"ctb": ctb, "pd": pd, "ud": tw.Corpus(third.sentences, "ud")}
    return {
        name: Parts(*(each.with_sentences(each.sentences[at : at + 20]) for at in (20, 40, 60)))
        for name, each in named.items()
    }


def cell(corpora: dict[str, Parts], names: Sequence[str], seed: int, iterations: int | None, threads: int) -> Result:
    """A training: its seconds and labels, and the tags of development and test data under every guideline."""
    target, *sources = (corpora[name] for name in names)
    begin = time.perf_counter()
    run: dict[str, Any] = {"seed": seed, "threads": threads, "iterations": iterations, "callback": Silence()}
    if sources:
        run["method"] = "coupled"
    model = tw.train(target.train, [each.train for each in sources], dev=target.dev, task="tag", **run)
    seconds = time.perf_counter() - begin
    tags = {
        name: {part: right(model, getattr(corpora[name], part), len(names) > 1) for part in PARTS[1:]} for name in names
    }
    return {"seconds": seconds, "labels": len(model.chain.space), "right": tags}


def right(model: Any, gold: tw.Corpus, of_several: bool) -> list[list[int]]:
    """How many tokens of every sentence are right, and how many there are."""
    tagger = model.under([gold.guideline] if of_several else [])
    found = tagger.tag(sentence.with_layers_of([]) for sentence in gold)
    layers = zip((s.layers[gold.guideline] for s in gold), (s.layers[tagger.guideline] for s in found), strict=True)
    return [[sum(a == b for a, b in zip(own, other, strict=True)), len(own)] for own, other in layers]


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("three-guidelines", __doc__, "the bundled sample")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds each training has")
    parser.add_argument("--threads", type=int, default=1, help="of a training")
    options = parser.parse_args(words)
    corpora, cache = read(options.quick), Cache(options.cache)
    iterations = 2 if options.quick else None
    found: dict[tuple[str, ...], list[Result]] = {}
    for names in MODELS:
        for seed in range(options.seeds):
            title = f"{' '.join(names)}, seed {seed}"
            texts = [digest(corpus) for name in names for corpus in corpora[name]]
            about = {"texts": texts, "seed": seed, "iterations": iterations}
            compute = _training(corpora, names, seed, iterations, options.threads)
            found.setdefault(names, []).append(cache.result(title, about, compute))
            print(title, f"{found[names][-1]['seconds']:.0f} s", flush=True)
    command = f"python -m reproductions three-guidelines --seeds {options.seeds}{' --quick' * options.quick}"
    numbers = summary(found, {name: parts.sizes() for name, parts in corpora.items()}, command)
    lab.write_page(options.out, "three-guidelines", numbers, page(numbers))


def _training(corpora: dict[str, Parts], *of_training: Any) -> Any:
    return lambda: cell(corpora, *of_training)


def summary(found: dict[tuple[str, ...], list[Result]], sizes: dict[str, Any], command: str) -> dict[str, Any]:
    """The scores of every guideline by model, each compared with the model of three."""
    whole = max(found, key=len)
    return {
        "command": command,
        "sizes": sizes,
        "cost": {", ".join(names): [[c["labels"], c["seconds"]] for c in cells] for names, cells in found.items()},
        "scores": {
            side: {
                ", ".join(names): {
                    part: {
                        **_measured(cells, side, part).to_json(),
                        "three": names != whole
                        and compare(_measured(found[whole], side, part), _measured(cells, side, part), TRIALS),
                    }
                    for part in PARTS[1:]
                }
                for names, cells in found.items()
                if side in names
            }
            for side in sizes
        },
    }


def _measured(cells: Sequence[Result], side: str, part: str) -> Measured:
    counts: Counts = np.array([each["right"][side][part] for each in cells])
    return Measured(counts, share_of_counts)


def page(numbers: dict[str, Any]) -> Iterator[str]:
    """The lines of the page."""
    yield from lab.opening("Three guidelines in one model", numbers["command"])
    yield "Tags of the Chinese Treebank (ctb) on Zhuxian, of the People's Daily (pd), and UPOS of UD Chinese (ud), by"
    yield "`tagweave train --task tag` with its defaults: a tagger of one corpus, coupled models of two and of three."
    yield "The first guideline is the target, whose development data stop training. Accuracies x 100, means over the"
    yield "seeds, in brackets each seed; p: two-sided, paired randomisation over sentences, over all seeds and in"
    yield "brackets of each.\n"
    for side, sizes in numbers["sizes"].items():
        yield f"- {side}: {lab.sizes(sizes)}"
    for side, models in numbers["scores"].items():
        yield f"\n## Tags of {side}\n"
        head = ["model", "dev", "test", "the model of three beside it, test", "p"]
        yield from lab.table(head, (_row(name, parts) for name, parts in models.items()))
    yield "\n## Cost\n"
    rows = (
        [name, lab.number_range([labels for labels, _ in cells]), f"{np.mean([s for _, s in cells]) / 60:.1f}"]
        for name, cells in numbers["cost"].items()
    )
    yield from lab.table(["model", "labels", "minutes, one thread, taggers included"], rows)


def _row(name: str, parts: dict[str, Any]) -> list[str]:
    return [name, lab.score(parts["dev"]), lab.score(parts["test"]), *lab.test(parts["test"]["three"] or None)]
