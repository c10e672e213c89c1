"""Many threads and processes at once, or killed: no answer is lost or doubled, nobody gets a task twice."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from invariants import check
from made_tasks import JJ, NN, VV, NewUrl, OpenStore, hire, make_task

from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.database import Database, prepare
from tagweave.annotate.rules import Rule, Settings
from tagweave.annotate.store import Store
from tagweave.annotate.task import Purpose, Status

_TASKS, _PEOPLE = 24, 6


def work(store: Store, annotator: int, seed: int) -> list[tuple[int, int, str]]:
    """Answer until nothing is left; what was acknowledged. Somebody else may work under the same name."""
    rng, done = random.Random(seed), []
    while (lease := store.claim(annotator)) is not None:
        answer = rng.choices([NN, VV, JJ], [8, 1, 1])[0]
        try:
            store.answer(annotator, lease.task_id, answer)
        except RefusedError:
            continue  # the other one was faster, and said something else
        done.append((annotator, lease.task_id, str(answer)))
    return done


def work_until_all_is_done(store: Store, annotator: int, seed: int) -> list[tuple[int, int, str]]:
    """As `work`, for as long as others may bring tasks back by differing."""
    done = []
    while store.counts().get((Purpose.REAL, Status.OPEN)):
        done += work(store, annotator, seed)
        if len({*done}) >= _TASKS:
            break
    return done


def assert_complete(store: Store, url: str, acknowledged: list[tuple[int, int, str]]) -> None:
    outcomes = check(url, Rule())
    assert Status.OPEN not in {each.status for each in outcomes.values()}
    numbers = {person.name: person.id for person in store.annotators()}
    stored = [(numbers[each.annotator], each.task.id, str(each.answer)) for each in store.judgements()]
    assert len({*stored}) == len(stored) == sum(each.wanted for each in outcomes.values())
    assert {*acknowledged} == {*stored}


def test_threads(open_store: OpenStore, new_url: NewUrl) -> None:
    url = new_url()
    store = open_store(Settings(window=3), url=url)
    people = hire(store, _PEOPLE)
    store.add_tasks([make_task(number) for number in range(_TASKS)])
    with ThreadPoolExecutor(2 * _PEOPLE) as pool:
        jobs = [pool.submit(work_until_all_is_done, store, who, seed) for seed, who in enumerate(people * 2)]
        acknowledged = [each for job in jobs for each in job.result()]
    assert_complete(store, url, acknowledged)


def test_what_is_undone_twice_at_once_is_one_answer(open_store: OpenStore, new_url: NewUrl) -> None:
    url = new_url()
    store = open_store(url=url)
    (who,) = hire(store, 1)
    store.add_tasks([make_task(number) for number in range(_TASKS)])
    for _ in range(5):
        while (lease := store.claim(who)) is not None:
            store.answer(who, lease.task_id, NN)
        seen = store.progress(who).judgement

        def undo(_: int, seen: int = seen) -> int:
            try:
                return len(store.undo(who, seen, 4))
            except RefusedError:
                return 0

        with ThreadPoolExecutor(_PEOPLE) as pool:
            assert sorted(pool.map(undo, range(_PEOPLE))) == [*[0] * (_PEOPLE - 1), 4]
        assert len(store.votes()) == _TASKS - 4
    check(url, Rule())


_PROGRAM = """
import sys
from test_concurrency import work_until_all_is_done
from tagweave.annotate.rules import Settings
from tagweave.annotate.store import Store
url, annotator = sys.argv[1], int(sys.argv[2])
store = Store.open(url, Settings(window=3), seed=annotator)
for who, task, answer in work_until_all_is_done(store, annotator, annotator):
    print(who, task, answer)
store.close()
"""


def test_processes(open_store: OpenStore, new_url: NewUrl) -> None:
    url = new_url()
    store = open_store(url=url)
    people = hire(store, 4)  # whom a dispute may need
    store.add_tasks([make_task(number) for number in range(_TASKS)])
    command = [sys.executable, "-c", _PROGRAM, url]
    processes = [
        subprocess.Popen([*command, str(who)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent)
        for who in people
    ]
    acknowledged = []
    for process in processes:
        output, _ = process.communicate(timeout=240)
        assert process.returncode == 0
        acknowledged += [(int(who), int(task), answer) for who, task, answer in map(str.split, output.splitlines())]
    assert_complete(store, url, acknowledged)


def test_a_store_that_many_open_at_once_is_made_once(new_url: NewUrl) -> None:
    url = new_url()
    with ThreadPoolExecutor(4) as pool:
        stores = [*pool.map(lambda _: Store.open(url), range(4))]
        keys = {*pool.map(lambda store: store.keep("key", lambda: str(random.random())), stores)}
    for store in stores:
        store.close()
    assert len(keys) == 1


def test_the_log_is_turned_on_after_a_writer_has_finished(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    threading.Timer(0.2, writer.execute, ["COMMIT"]).start()
    database = Database(f"sqlite:///{path}")
    prepare(database)
    database.close()
    assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    writer.close()


_KILLS = 2
_WORKER = """
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
    for number in range(_KILLS):
        acknowledged += killed_after(random.Random(number).randint(5, 40), url, people)
        found = [(each.annotator, str(each.task.id), str(each.answer)) for each in store.judgements()]
        names = {str(person.id): person.name for person in store.annotators()}
        assert {(names[who], *rest) for who, *rest in acknowledged} <= {*found}
        assert len({*found}) == len(found)
        assert 0 <= len(found) - len(acknowledged) <= 3 * (number + 1)  # what was under way, of three threads
        check(url, Rule())
    store.close()
    assert len(acknowledged) >= 5 * _KILLS


def killed_after(answers: int, url: str, people: list[int]) -> list[tuple[str, ...]]:
    """Run the program, kill it after so many answers; all that it acknowledged."""
    command = [sys.executable, "-c", _WORKER, url, *map(str, people)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(answers)]
        process.kill()
        lines += process.stdout.readlines()
    assert process.returncode == -9
    return [tuple(line.split()) for line in lines if line.endswith("\n")]  # the last one may be cut
