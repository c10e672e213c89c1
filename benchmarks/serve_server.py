"""A server to be measured: `python -m benchmarks.serve_server tagweave|spacy MODEL WORKERS [--alone]`.

It prints its address on standard error. spaCy's pipeline stands behind the same application: the same batches over
connections, the same JSON.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from benchmarks import serve_spacy
from tagweave.serve import batches
from tagweave.serve.serving import run
from tagweave.serve.settings import Limits, ServerSettings
from tagweave.web import listening, processes, server


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=("tagweave", "spacy"))
    parser.add_argument("model")
    parser.add_argument("workers", type=int)
    parser.add_argument("--alone", action="store_true", help="compute every request for itself; of one worker")
    options = parser.parse_args()
    if options.alone:
        batches._ITEMS = 0
    if options.program == "tagweave":
        run(ServerSettings((("model", options.model),)), "127.0.0.1", 0, options.workers, tell)
        return
    make = partial(serve_spacy.application, options.model)
    with listening("127.0.0.1", 0) as (opened, address):
        tell(address)
        if options.workers == 1:
            server(make(), patience=Limits().seconds).run([opened])
        else:
            processes(make, options.workers, [opened], Limits().seconds).run()


if __name__ == "__main__":
    main()
