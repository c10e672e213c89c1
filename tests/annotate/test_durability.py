"""An answer that was acknowledged is in the store, whenever the process is killed."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from fixture_types import NewUrl
from invariants import check
from made_tasks import hire, make_task

from tagweave.annotate.aggregation import Rule
from tagweave.annotate.store import Store

_ROUNDS = 3
_PROGRAM = """
import sys
from concurrent.futures import ThreadPoolExecutor
from made_tasks import NN, VV
from tagweave.annotate.store import Store

store = Store.open(sys.argv[1])

def work(annotator):
    while (lease := store.claim(annotator)) is not None:
        answer = [NN, VV][lease.task_id * annotator % 5 == 0]
        store.answer(annotator, lease.task_id, answer)
        sys.stdout.write(f"{annotator} {lease.task_id} {answer}\\n")
        sys.stdout.flush()

with ThreadPoolExecutor(3) as pool:
    [*pool.map(work, map(int, sys.argv[2:]))]
"""


def test_acknowledged_answers_survive_kill_9(new_url: NewUrl) -> None:
    url = new_url()
    store = Store.open(url)
    people = hire(store, 3)
    store.add_tasks([make_task(number) for number in range(500)])
    acknowledged: list[tuple[str, ...]] = []
    for number in range(_ROUNDS):
        acknowledged += killed_after(random.Random(number).randint(5, 40), url, people)
        found = [(each.annotator, str(each.task.id), str(each.answer)) for each in store.judgements()]
        names = {str(person.id): person.name for person in store.annotators()}
        assert {(names[who], *rest) for who, *rest in acknowledged} <= {*found}
        assert len({*found}) == len(found)
        assert 0 <= len(found) - len(acknowledged) <= 3 * (number + 1)  # what was under way, of three threads
        check(url, Rule())
    store.close()
    assert len(acknowledged) >= 5 * _ROUNDS


def killed_after(answers: int, url: str, people: list[int]) -> list[tuple[str, ...]]:
    """Run the program, kill it after so many answers; all that it acknowledged."""
    command = [sys.executable, "-c", _PROGRAM, url, *map(str, people)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(answers)]
        process.kill()
        lines += process.stdout.readlines()
    assert process.returncode == -9
    return [tuple(line.split()) for line in lines if line.endswith("\n")]  # the last one may be cut
