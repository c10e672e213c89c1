"""Shards in an object store: a local server of the S3 protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.shards.run import prepare, run
from tests.shards.conftest import Here, UpperCase

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


def test_a_run_from_bucket_to_bucket(bucket: Any, here: Here) -> None:
    bucket.put_object(Key="in/a.txt", Body=b"one\n")
    bucket.put_object(Key="in/deep/b.txt", Body=b"two\n")
    bucket.put_object(Key="in/bad.txt", Body=b"bad\n")

    def through() -> Any:
        return run(here, prepare(UpperCase(), ["s3://corpora/in/**"], "s3://corpora/out"), skip_bad=True)

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
