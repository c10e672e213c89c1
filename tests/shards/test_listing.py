"""Shards are found by files, folders and patterns, and keep safe names.

Shards in an object store: a local server of the S3 protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from tagweave.cluster.executor import IN_PROCESS
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import ShardError
from tagweave.shards.listing import check_name, shards_of
from tagweave.shards.run import prepare, run
from tests.shards.conftest import UpperCase


@pytest.mark.parametrize(
    ("argument", "names"),
    [
        ("", ["a.txt", "c.txt.gz", "deep/b.txt"]),
        ("/", ["a.txt", "c.txt.gz", "deep/b.txt"]),
        ("/*.txt", ["a.txt"]),
        ("/**/*.txt", ["a.txt", "deep/b.txt"]),
        ("/deep/b.txt", ["b.txt"]),
        ("/d*/[ab].txt", ["deep/b.txt"]),
    ],
)
def test_inputs(folder: Path, argument: str, names: list[str]) -> None:
    assert sorted(shard.name for shard in shards_of([f"{folder}{argument}"])) == names


def test_hidden_files_and_manifests_are_left_out(folder: Path) -> None:
    (folder / "_tagweave").mkdir()
    for name in ("_SUCCESS", ".crc", "_tagweave/work.json"):
        (folder / name).touch()
    assert len(shards_of([str(folder)])) == 3
    assert "_tagweave/work.json" not in {shard.name for shard in shards_of([f"{folder}/**"])}


def test_relative_paths_become_absolute(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert {shard.base for shard in shards_of(["*.txt", "deep"])} == {str(folder), f"{folder}/deep"}


def test_large_shards_come_first(folder: Path) -> None:
    sizes = [shard.size for shard in shards_of([str(folder)])]
    assert sizes == sorted(sizes, reverse=True)


def test_nothing_found(tmp_path: Path) -> None:
    for argument in ("none", "none/*.txt"):
        with pytest.raises(ShardError, match="found no file"):
            shards_of([f"{tmp_path}/{argument}"])


def test_two_shards_of_one_name(folder: Path) -> None:
    (folder / "deep" / "a.txt").touch()
    with pytest.raises(ShardError, match=r"two shards of the name a\.txt"):
        shards_of([str(folder), f"{folder}/deep"])


@pytest.mark.parametrize(
    "name",
    ["../a", "a/../../b", "/etc/passwd", "", "a\\..\\b", "a\nb", "\x1b[2J", "a//b", "./a", "a/", "_tagweave/work.json"],
)
def test_names_stay_in_the_output_folder(name: str) -> None:
    with pytest.raises(ShardError, match="expected one inside the folder"):
        check_name(name, f"s3://bucket/{name}")


@pytest.mark.parametrize("url", ["nothing://x/*.txt", "s4://bucket/x"])
def test_unknown_schemes(url: str) -> None:
    with pytest.raises(ShardError, match="expected a known file system"):
        shards_of([url])


def test_links_to_files_are_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("four\n")
    (folder / "link.txt").symlink_to(tmp_path / "real.txt")
    for argument in (folder, f"{folder}/*.txt", folder / "link.txt"):
        assert "link.txt" in {shard.name for shard in shards_of([str(argument)])}


def test_links_to_folders_are_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (folder / "link").symlink_to(tmp_path / "other")
    with pytest.raises(ShardError, match="found a link to a folder"):
        shards_of([str(folder)])


def test_names_like_patterns_are_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "x[1]").mkdir()
    (folder / "x[1]/a[2].txt").touch()
    assert [shard.name for shard in shards_of([f"{folder}/x[1]/a[2].txt"])] == ["a[2].txt"]
    monkeypatch.chdir(folder / "x[1]")
    assert [shard.name for shard in shards_of(["*.txt"])] == ["a[2].txt"]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.json"])
def test_a_file_named_as_a_folder(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "other" / name).mkdir(parents=True)
    (tmp_path / "other" / name / "b").touch()
    with pytest.raises(ShardError, match="expected no file with the name of a folder"):
        shards_of([str(folder), str(tmp_path / "other")])


pytest.importorskip("pyarrow", reason="pyarrow is not installed (pip install '.[ray]')")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bucket, and the environment that tells where it is."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    boto3 = pytest.importorskip("boto3")
    server = moto.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    store = boto3.resource("s3", endpoint_url=url).Bucket("corpora")
    store.create()
    yield store
    server.stop()


def test_a_run_from_bucket_to_bucket(bucket: Any) -> None:
    bucket.put_object(Key="in/a.txt", Body=b"one\n")
    bucket.put_object(Key="in/deep/b.txt", Body=b"two\n")
    bucket.put_object(Key="in/bad.txt", Body=b"bad\n")

    def through() -> Any:
        return run(IN_PROCESS, prepare(UpperCase(), ["s3://corpora/in/**"], "s3://corpora/out"), skip_bad=True)

    counts = through()
    assert counts.done == 2
    assert counts.failed["bad.txt"] == "s3://corpora/in/bad.txt:1: found bad, expected good"
    written = {each.key: each.get()["Body"].read() for each in bucket.objects.filter(Prefix="out/")}
    assert {key: text for key, text in written.items() if "_tagweave" not in key and key != "out/"} == {
        "out/a.txt": b"ONE\n",
        "out/deep/b.txt": b"TWO\n",
    }
    assert not [key for key in written if "unfinished/" in key and not key.endswith("/")]
    counts = through()
    assert (counts.before, counts.done) == (2, 0)


def test_a_model_from_a_bucket(bucket: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b\n")
    model = tw.train(Corpus((Sentence(("a", "b"), {"tag": (("A",), ("B",))}),), "tag"), iterations=1)
    model.save(tmp_path / "model")
    bucket.put_object(Key="model", Body=(tmp_path / "model").read_bytes())
    tw.label_files("s3://corpora/model", tmp_path / "a.txt", tmp_path / "out", workers=1)
    assert (tmp_path / "out/a.txt").read_text() == "a/A b/B\n"
