"""Corpora by name, fetched from a server on this machine."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving_files import Files, served
from typer.testing import CliRunner

import tagweave as tw
from tagweave.cli.main import application
from tagweave.corpus.named import DataName, data_name, is_name, located
from tagweave.corpus.named import files as registry_module
from tagweave.corpus.named.files import FOLDER, OFFLINE, first_digest, kept, registry, remote_file
from tagweave.errors import DataError

pytest.importorskip("requests", reason="requests is not installed (pip install '.[data]')")

TREES = "1\tWe\twe\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\twalk\twalk\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
CHUNKS = "We PRP B-NP\nwalk VBP B-VP\n\n"
TREEBANK = "/UD_English-Own/r2.14/en_own-ud-train.conllu"
NAME = "ud:English-Own@2.14/train"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    """A registry whose addresses are on a local server, and a folder of its own."""
    monkeypatch.setenv(FOLDER, str(tmp_path / "kept"))
    monkeypatch.delenv(OFFLINE, raising=False)
    with served() as files:
        own = json.loads(Path(registry_module.__file__).with_name("registry.json").read_text("utf-8"))
        own["ud"]["url"] = files.url + "/UD_{corpus}/r{version}/{file}"
        own["conll"] = {"title": "own", "page": files.url, "url": files.url + "/{file}"}
        one = {"licence": "CC0", "about": "one", "splits": {"train": "train.txt"}, "sha256": {"train": digest(CHUNKS)}}
        own["conll"]["corpora"] = {"2000": one}
        (tmp_path / "registry.json").write_text(json.dumps(own), "utf-8")
        monkeypatch.setattr(registry_module, "files", lambda package: tmp_path)
        registry.cache_clear()
        files.content |= {TREEBANK: TREES.encode(), "/train.txt": CHUNKS.encode()}
        yield files
    registry.cache_clear()


class TestNames:
    def test_parts(self) -> None:
        for text in ("ud:English-EWT@2.7/train", "conll:2000", "ud:Old_French-SRCMF@2.14"):
            assert str(data_name(text)) == text
        assert data_name("ud:English-EWT@2.7/train") == DataName("ud", "English-EWT", "2.7", "train")
        assert data_name("conll:2002-es") == DataName("conll", "2002-es")

    @pytest.mark.parametrize("text", ["ud:", "ud:../../etc/passwd", "ud:English@2.7/train/x", "hf:a/b", "ud:a@2.7/a.b"])
    def test_what_is_none(self, text: str) -> None:
        with pytest.raises(DataError, match="found no name of a corpus, expected FAMILY:CORPUS"):
            data_name(text)

    def test_a_file_of_that_name_is_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert is_name("ud:own.conllu")
        Path("ud:own.conllu").write_text(TREES, "utf-8")
        assert located("ud:own.conllu") == "ud:own.conllu"
        assert len(tw.load("ud:own.conllu")) == 1

    def test_other_paths_are_left_alone(self) -> None:
        assert [located(path) for path in ("-", "a.txt", "C:\\ud.txt", "hf:x")] == ["-", "a.txt", "C:\\ud.txt", "hf:x"]


class TestRegistry:
    def test_every_digest_is_one_of_a_file(self) -> None:
        values = []
        for prefix, family in registry().items():
            for name, corpus in family.corpora.items():
                for place, value in corpus.sha256.items():
                    version, _, split = place.rpartition("/")
                    assert remote_file(DataName(prefix, name, version or None, split)).sha256 == value
                    values.append(bytes.fromhex(value))
        assert len({each for each in values if len(each) == 32}) == len(values) == 11

    def test_files_of_treebanks_are_named_as_ud_names_them(self) -> None:
        file = remote_file(data_name("ud:Old_Church_Slavonic-PROIEL@2.14/dev"))
        address = "https://raw.githubusercontent.com/UniversalDependencies/UD_Old_Church_Slavonic-PROIEL/r2.14/"
        assert file.url == f"{address}cu_proiel-ud-dev.conllu"
        assert (file.path, file.sha256) == ("Old_Church_Slavonic-PROIEL/2.14/cu_proiel-ud-dev.conllu", None)

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("ud:English-EWT/train", "found no release, expected one, as ud:English-EWT@2.14/train"),
            ("ud:English-EWT@2.1/train", "found the release 2.1, expected 2.2 or later"),
            ("ud:English-EWT@2.7", "found no split, expected one of ud:English-EWT@2.7/train, "),
            ("ud:English-EWT@2.7/all", "found the split 'all', expected one of train, dev, test"),
            ("ud:Klingon-KGB@2.7/dev", "found the treebank 'Klingon-KGB', expected LANGUAGE-TREEBANK"),
            ("conll:2003/train", "found no corpus '2003', expected one of conll:2000, "),
            ("conll:2000/dev", "found the split 'dev', expected one of train, test"),
            ("conll:2000@1/test", "found the version 1, expected none: conll:2000/test"),
        ],
    )
    def test_what_does_not_exist(self, name: str, message: str) -> None:
        with pytest.raises(DataError, match=message.replace("?", r"\?")) as caught:
            remote_file(data_name(name))
        assert str(caught.value).startswith(f"{name}: ")


class TestFetching:
    def test_a_corpus_is_fetched_once(self, server: Files, tmp_path: Path) -> None:
        for _ in range(2):
            corpus = tw.load(f"mine={NAME}#xpos")
            assert (corpus.guideline, [s.layers["mine"] for s in corpus]) == ("mine", [(("PRP",), ("VBP",))])
        assert server.asked == [(TREEBANK, None)]
        found = sorted(path.name for path in (tmp_path / "kept").rglob("*") if path.is_file())
        assert found == ["digests.json", "en_own-ud-train.conllu"]

    def test_a_file_with_a_known_digest(self, server: Files) -> None:
        assert tw.load("conll:2000/train").sentences[0].layers["tag"] == (("B-NP",), ("B-VP",))
        assert first_digest(remote_file(data_name("conll:2000/train"))) is None

    def test_another_file_than_the_known_one_is_not_kept(self, server: Files) -> None:
        server.content["/train.txt"] = b"We PRP B-XX\n\n"
        with pytest.raises(DataError, match=r"found another file at .*, expected one with the digest sha256:"):
            tw.load("conll:2000/train")
        assert not kept(remote_file(data_name("conll:2000/train"))).exists()

    def test_what_was_fetched_first_is_what_is_fetched_again(self, server: Files) -> None:
        path = Path(located(NAME))
        path.write_text(TREES + TREES, "utf-8")
        with pytest.raises(DataError, match=f"expected {digest(TREES)}; delete it to fetch it again"):
            tw.load(NAME)
        path.unlink()
        server.content[TREEBANK] = TREES.replace("PRP", "DT").encode()
        with pytest.raises(DataError, match=f"expected one with the digest sha256:{digest(TREES)}"):
            located(NAME)

    @pytest.mark.parametrize("text", ["[", "[]", '{"a": 1}'])
    def test_digests_that_are_none(self, server: Files, tmp_path: Path, text: str) -> None:
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept/digests.json").write_text(text, "utf-8")
        with pytest.raises(DataError, match=r"digests\.json: found .*, expected digests by address"):
            located(NAME)

    @pytest.mark.parametrize("ranges", [True, False])
    def test_what_broke_off_goes_on(self, server: Files, ranges: bool) -> None:
        server.breaks_after, server.ranges = 10, ranges
        with pytest.raises(DataError, match="found"):
            located(NAME)
        (partial,) = kept(remote_file(data_name(NAME))).parent.iterdir()
        assert partial.name == "en_own-ud-train.conllu.partial"
        server.breaks_after = None
        assert Path(located(NAME)).read_text("utf-8") == TREES
        assert [wanted for _, wanted in server.asked] == [None, "bytes=10-"]

    def test_a_partial_file_that_is_longer_than_the_file(self, server: Files) -> None:
        path = kept(remote_file(data_name(NAME)))
        path.parent.mkdir(parents=True)
        path.with_name(f"{path.name}.partial").write_bytes(b"x" * 1000)
        with pytest.raises(DataError, match="found a partial file longer than"):
            located(NAME)
        assert Path(located(NAME)).read_text("utf-8") == TREES

    def test_what_cannot_be_fetched(self, server: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"found no file at .*, expected a corpus, release and split that exist"):
            located("ud:English-Own@2.14/dev")
        server.asked.clear()
        with monkeypatch.context() as patch, pytest.raises(DataError, match=f"and {OFFLINE} set, expected the file of"):
            patch.setenv(OFFLINE, "1")
            located(NAME)
        with monkeypatch.context() as patch, pytest.raises(DataError, match=r"extra data: pip install '\.\[data\]'"):
            patch.setitem(sys.modules, "requests", None)
            located(NAME)
        assert server.asked == []
        own = (tmp_path / "registry.json").read_text("utf-8").replace(server.url, "http://127.0.0.1:9")
        (tmp_path / "registry.json").write_text(own, "utf-8")
        registry.cache_clear()
        with pytest.raises(DataError, match=r"found no answer of .*, expected a network, or the file as .*\.conllu$"):
            located(NAME)


class TestCommands:
    def run(self, *words: str, code: int = 0) -> str:
        done = CliRunner().invoke(application(), list(words))
        assert done.exit_code == code, done.output
        return done.output

    def test_info_fetches_nothing_and_says_who_vouches(self, server: Files) -> None:
        assert "conll:2000            one (CC0)\n" in self.run("data", "list")
        shown = self.run("data", "info", "ud:English-Own@2.14/train")
        assert "licence: as this page says" in shown
        assert "(not fetched)\n    sha256 unknown: what is fetched for the first time is believed" in shown
        assert server.asked == []
        located(NAME)
        shown = self.run("data", "info", "ud:English-Own@2.14/train")
        assert f"sha256 {digest(TREES)}, as it was fetched for the first time\n" in shown
        assert f"sha256 {digest(CHUNKS)}\n" in self.run("data", "info", "conll:2000")

    def test_get_writes_the_paths(self, server: Files) -> None:
        (line,) = self.run("data", "get", "conll:2000").splitlines()
        assert Path(line).read_text("utf-8") == CHUNKS
        assert tw.fetch_corpus("conll:2000") == {"train": line}

    def test_an_error_is_a_line(self, server: Files) -> None:
        assert self.run("data", "get", "conll:1999", code=2).startswith("tagweave: conll:1999: found no corpus '1999'")

    def test_every_command_takes_the_name(self, server: Files, tmp_path: Path) -> None:
        model, out = str(tmp_path / "m"), str(tmp_path / "out.conllu")
        self.run("train", f"{NAME}#xpos", "--iterations", "1", "-o", model)
        self.run("tag", "--retag", model, NAME, "-o", out)
        assert "accuracy" in self.run("evaluate", f"{NAME}#xpos", out)
        assert "1 sentences" in self.run("info", NAME)
        about = tw.load_model(model).about
        assert about["plan"]["target"][0]["path"] == NAME
        assert about["plan"]["target"][0]["sha256"] == digest(TREES)
