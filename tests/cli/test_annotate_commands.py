"""`tagweave annotate`: people, questions and answers by the command line."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any

import pytest

from tagweave.annotate.sign_in import LONGEST_PASSWORD, SHORTEST, hashed, is_right
from tagweave.annotate.store import Store
from tagweave.annotate.task import Purpose, Status, label
from tagweave.corpus.load import load

pty = pytest.importorskip("pty", reason="not on Windows")

Run = Any
PASSWORD = "correct horse"  # noqa: S105
PROGRAM = [sys.executable, "-m", "tagweave"]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/answers.db"


class TestPasswords:
    def test_a_hash_is_none_of_the_password(self) -> None:
        assert hashed(PASSWORD).startswith("$argon2id$")
        assert hashed(PASSWORD) != hashed(PASSWORD)
        assert PASSWORD not in hashed(PASSWORD)

    @pytest.mark.parametrize(
        ("password", "expected"), [(PASSWORD, True), ("correct hors", False), ("", False), ("\ud800", False)]
    )
    def test_only_the_password_is_right(self, password: str, expected: bool) -> None:
        assert is_right(password, hashed(PASSWORD)) is expected

    @pytest.mark.parametrize("kept", [None, "", "no hash", "$argon2id$"])
    def test_without_a_hash_nothing_is_right(self, kept: str | None) -> None:
        assert not is_right(PASSWORD, kept)
        assert not is_right("nobody has this password", kept)

    @pytest.mark.parametrize("size", [0, SHORTEST - 1, LONGEST_PASSWORD + 1])
    def test_length(self, size: int) -> None:
        with pytest.raises(ValueError, match=f"found a password of {size} characters, expected 8 to 1024"):
            hashed("x" * size)
        assert not is_right("x" * (LONGEST_PASSWORD + 1), None)


class TestAddUser:
    @pytest.mark.parametrize("role", ["annotator", "curator"])
    def test_somebody_new(self, run: Run, url: str, role: str) -> None:
        told = run("annotate", "adduser", "--store", url, "--name", "Ada", "--role", role, "--password", PASSWORD)
        assert told.stderr == f"Ada: {role}\n"
        ada = Store.open(url).annotator("Ada")
        assert ada is not None
        assert is_right(PASSWORD, ada.password_hash)
        assert (ada.role, ada.admitted is not None) == (role, role == "curator")

    def test_what_is_typed_on_a_terminal_is_not_shown(self, url: str) -> None:
        typed = ["something else", PASSWORD, PASSWORD, PASSWORD]
        said, code = typed_at_a_terminal([*PROGRAM, "annotate", "adduser", "--store", url, "--name", "Ada"], typed)
        assert code == 0, said
        assert said.count("Password of Ada") == 2  # the first two differed
        assert said.rstrip().endswith("Ada: annotator")
        assert not any(word in said for word in typed)
        ada = Store.open(url).annotator("Ada")
        assert ada is not None
        assert is_right(PASSWORD, ada.password_hash)

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["--name", "Ada"], "found no terminal to ask for a password"),
            (["--name", "Ada", "--password", "short"], "found a password of 5 characters, expected 8 to 1024"),
            (["--name", "", "--password", PASSWORD], "found the name ''"),
            (["--name", "Ada", "--role", "king", "--password", PASSWORD], "unknown role 'king'"),
        ],
    )
    def test_what_is_refused(self, run: Run, url: str, words: list[str], told: str) -> None:
        assert told in run("annotate", "adduser", "--store", url, *words, code=2).stderr
        assert Store.open(url).annotators() == []

    def test_nobody_twice(self, run: Run, url: str) -> None:
        words = ("annotate", "adduser", "--store", url, "--name", "Ada", "--password", PASSWORD)
        run(*words)
        assert "found the name 'Ada' in use" in run(*words, code=2).stderr

    @pytest.mark.parametrize("wrong", ["answers.db", "mysql://host/db", "postgresql://u:secret@127.0.0.1:1/none"])
    def test_no_store(self, run: Run, wrong: str) -> None:
        told = run("annotate", "adduser", "--store", wrong, "--name", "Ada", "--password", PASSWORD, code=2)
        assert len(told.stderr.splitlines()) == 1
        assert "secret" not in told.stderr

    def test_a_file_that_is_no_store(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "notes.db").write_text("my notes, which are long enough to be a file of some kind" * 20)
        words = ("--store", f"sqlite:///{tmp_path}/notes.db", "--name", "Ada", "--password", PASSWORD)
        assert "file is not a database" in run("annotate", "adduser", *words, code=2).stderr
        assert (tmp_path / "notes.db").read_text().startswith("my notes")


def typed_at_a_terminal(command: list[str], lines: list[str]) -> tuple[str, int]:
    """All that a terminal shows while a command asks for lines, and its exit code."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(command[0], command)  # noqa: S606
    said, waiting, end = "", list(lines), time.monotonic() + 60
    with suppress(OSError):  # so ends a terminal without a program
        while time.monotonic() < end:
            if select([terminal], [], [], 0.2)[0]:
                said += os.read(terminal, 4096).decode()
            elif waiting and said.rstrip().endswith(":"):
                os.write(terminal, f"{waiting.pop(0)}\n".encode())
    return said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class TestImport:
    def test_a_model_asks_a_fifth(self, run: Run, url: str, corpora: Path, tagger: Path) -> None:
        told = run("annotate", "import", corpora / "dev.seg", "--store", url, "--model", tagger)
        store = Store.open(url)
        tokens = load(str(corpora / "dev.seg")).tokens()
        assert store.counts() == {(Purpose.REAL, Status.OPEN): round(0.2 * tokens)}
        assert told.stderr == f"{round(0.2 * tokens):,} new tasks from 20 sentences\n"
        assert {each.task.guideline for each in store.tasks(Status.OPEN)} == {"ctb"}
        assert [each.path for each in store.models()] == [str(tagger)]

    def test_again_is_nothing_new(self, run: Run, url: str, corpora: Path, tagger: Path) -> None:
        words = ("annotate", "import", corpora / "dev.seg", "--store", url, "--model", tagger)
        run(*words)
        assert run(*words).stderr == "0 new tasks from 20 sentences\n"
        assert len(Store.open(url).models()) == 1

    @pytest.mark.parametrize("purpose", ["gold", "training"])
    def test_gold_has_the_guideline_of_real_tasks(
        self, run: Run, url: str, corpora: Path, tagger: Path, purpose: str
    ) -> None:
        words = (corpora / "dev.txt", "--store", url, "--model", tagger, "--as", purpose, "--number", 7)
        run("annotate", "import", *words)
        tasks = Store.open(url).tasks(Status.OPEN, Purpose(purpose))
        assert len(tasks) == 7
        assert {each.task.guideline for each in tasks} == {"ctb"}
        assert all(each.task.gold and each.task.candidates for each in tasks)

    def test_what_a_corpus_leaves_ambiguous(self, run: Run, url: str, tmp_path: Path) -> None:
        (tmp_path / "some.txt").write_text("a_NN|VV b_P\nc_P\n", encoding="utf-8")
        run("annotate", "import", f"ctb={tmp_path / 'some.txt'}", "--store", url)
        (asked,) = Store.open(url).tasks(Status.OPEN)
        assert [each.label for each in asked.task.candidates] == ["NN", "VV"]

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["--as", "fun"], "unknown --as 'fun', expected one of real, gold, training"),
            (["--model", "none.model"], "none.model: no such model file"),
        ],
    )
    def test_what_is_refused(self, run: Run, url: str, corpora: Path, words: list[str], told: str) -> None:
        assert told in run("annotate", "import", corpora / "dev.txt", "--store", url, *words, code=2).stderr


class TestNotes:
    def test_notes_of_labels(self, run: Run, url: str, tmp_path: Path) -> None:
        (tmp_path / "notes.tsv").write_text("NN\ta thing\nVV\n", "utf-8")
        words = ("annotate", "notes", tmp_path / "notes.tsv", "--store", url, "--guideline", "ctb")
        assert run(*words).stderr == "ctb: 2 labels, 2 of them new\n"
        assert run(*words).stderr == "ctb: 2 labels, 0 of them new\n"
        assert Store.open(url).labels("ctb") == {"NN": "a thing", "VV": ""}

    def test_a_file_that_is_none(self, run: Run, url: str, tmp_path: Path) -> None:
        words = ("--store", url, "--guideline", "ctb")
        assert "none.tsv" in run("annotate", "notes", tmp_path / "none.tsv", *words, code=2).stderr
        (tmp_path / "notes.tsv").write_text("a thing\n", "utf-8")
        assert "notes.tsv:1: found" in run("annotate", "notes", tmp_path / "notes.tsv", *words, code=2).stderr


class TestExport:
    @pytest.fixture
    def answered(self, url: str, corpora: Path, tagger: Path, run: Run) -> str:
        run("annotate", "import", corpora / "dev.seg", "--store", url, "--model", tagger)
        store = Store.open(url)
        for name in "ab":
            annotator = store.add_annotator(name).id
            for _ in range(3):
                lease = store.claim(annotator)
                assert lease is not None
                store.answer(annotator, lease.task_id, label("NN"))
        return url

    def test_a_partial_corpus_to_train_on(self, run: Run, answered: str, tmp_path: Path, corpora: Path) -> None:
        store = Store.open(answered)
        store.adjudicate(store.add_annotator("c", "curator").id, 1, label("VV"))
        path = tmp_path / "out.conllu"
        run("annotate", "export", "--store", answered, "-o", path)  # there is one guideline
        assert load(str(path)).guideline == "ctb"
        run("train", f"ctb={corpora / 'train.txt'}", path, "-o", tmp_path / "new.model", "--iterations", 1)

    def test_judgements(self, run: Run, answered: str, tmp_path: Path) -> None:
        told = run("annotate", "export", "--store", answered, "-o", tmp_path / "out.jsonl")
        assert told.stderr == f"{tmp_path / 'out.jsonl'}: 6 judgements\n"
        lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["label"] for line in lines] == ["NN"] * 6

    def test_a_column_for_each_annotator(self, run: Run, answered: str, tmp_path: Path) -> None:
        path = tmp_path / "each.conll"
        told = run("annotate", "export", "--store", answered, "-o", path, "--guideline", "ctb", "--by-annotator")
        assert "sentences" in told.stderr
        described = json.loads(run("info", path, "--sources", "a,b", "--json").stdout)
        assert [described["sources"][name]["labels"] for name in "ab"] == [{"NN": 3}, {"NN": 3}]

    def test_to_standard_output(self, run: Run, answered: str) -> None:
        told = run("annotate", "export", "--store", answered, "-o", "-", "--format", "jsonl")
        assert len(told.stdout.splitlines()) == 6

    @pytest.mark.parametrize(
        ("name", "what"),
        [
            ("out.jsonl", "judgements"),
            ("out.conllu", "answers of ctb that were agreed on or decided"),
            ("out.kytea", "answers of ctb that were agreed on or decided"),
        ],
    )
    def test_before_there_are_answers(self, run: Run, url: str, tmp_path: Path, name: str, what: str) -> None:
        told = run("annotate", "export", "--store", url, "-o", tmp_path / name, "--guideline", "ctb", code=2)
        assert told.stderr == f"tagweave: {url}: found no {what}, expected some: {tmp_path / name} is not written\n"
        assert not (tmp_path / name).exists()

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["-o", "out"], "found the name out without a format"),
            (["-o", "out.conllu"], "found no --guideline"),
            (["-o", "out.conllu", "--guideline", "ctb", "--by-annotator"], "found --by-annotator with conllu"),
            (["-o", "out.col", "--guideline", "ctb", "--by-annotator"], "found no answers of ctb, expected some"),
            (["-o", "out", "--format", "xml", "--guideline", "ctb"], "unknown format 'xml'"),
        ],
    )
    def test_what_is_refused(
        self, run: Run, url: str, words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert told in run("annotate", "export", "--store", url, *words, code=2).stderr
        assert not list(tmp_path.glob("out*"))


def test_without_the_extra_it_is_named(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy.exc", None)
    told = run("annotate", "export", "--store", url, "-o", "out.jsonl", code=2)
    assert "expected the extra annotate: pip install '.[annotate]'" in told.stderr
