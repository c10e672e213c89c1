"""`tagweave tag` on raw text: by tables, and the same as without them."""

from __future__ import annotations

import gzip

import pytest
from model_files import write

from tagweave.corpus import files
from tagweave.models import pair_tables
from tagweave.models.pair_tables import UnfitModelError
from tagweave.streams import characters, labelling

LINES = [
    "今天早上我们看着他。",
    "",
    " ",
    "图\u3000书 馆\t里",
    "１９９８年1月ABC公司𠀀𠀀鱻鱻龘",
    "好" * 3000,
    "见http://a.cn/b，1,234人",
]


@pytest.fixture
def without_tables(monkeypatch):
    """Switches the tables off."""

    def off():
        def refuse(*_):
            raise UnfitModelError("found nothing, expected nothing")

        monkeypatch.setattr(pair_tables, "kept_tables", refuse)

    return off


@pytest.mark.parametrize("threads", [1, 3])
def test_tables_give_what_the_tagger_gives(run, segmenter, corpora, tmp_path, monkeypatch, without_tables, threads):
    monkeypatch.setattr(files, "_BYTES", 300)
    lines = (corpora / "dev.raw").read_text("utf-8").splitlines() + LINES
    file = write(tmp_path / "text.raw", lines)
    fast = run("tag", segmenter, file, "--threads", threads).stdout
    split = run("tag", segmenter, file, "--threads", threads, "--split-runs").stdout
    assert fast.count("\n") == len(lines) and fast != split
    without_tables()
    assert run("tag", segmenter, file).stdout == fast
    assert run("tag", segmenter, file, "--split-runs").stdout == split


def test_files_gzip_byte_order_marks_and_line_ends(run, segmenter, tmp_path):
    plain = run("tag", segmenter, stdin="我们看着\n他说\n").stdout
    (tmp_path / "in.gz").write_bytes(gzip.compress("\ufeff我们看着\r\n他说".encode()))
    run("tag", segmenter, tmp_path / "in.gz", "-o", tmp_path / "out.gz")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()).decode() == plain


def test_what_is_not_raw_to_segmented_goes_the_general_way(run, segmenter, segtagger, tagger, tmp_path, monkeypatch):
    taken = []
    read_blocks = characters.read_blocks
    monkeypatch.setattr(characters, "read_blocks", lambda path: taken.append(path) or read_blocks(path))
    run("tag", segmenter, stdin="我们看着\n")
    run("tag", segmenter, "--retag", "-o", tmp_path / "x.seg", stdin="我们看着\n")
    run("tag", segmenter, "--to", "segmentation", stdin="我们看着\n")
    assert len(taken) == 3
    taken.clear()
    run("tag", segmenter, "-o", tmp_path / "x.conllu", stdin="我们看着\n")
    run("tag", segmenter, "--format", "segmented", stdin="我们 看着\n")
    run("tag", segtagger, stdin="我们看着\n")
    run("tag", tagger, stdin="我们 看着\n")
    assert not taken  # the segtagger has no tables
    write(tmp_path / "in.raw", ["我们"])
    assert "expected a layer 'other'" in run("tag", segmenter, f"{tmp_path / 'in.raw'}#other", code=2).stderr


def test_the_tagger_is_not_asked(run, segmenter, monkeypatch):
    monkeypatch.setattr(labelling.Labelling, "labelled", lambda _: pytest.fail("the general way"))
    assert run("tag", segmenter, stdin="我们看着\n").stdout.replace(" ", "") == "我们看着\n"


def test_labelled_text_is_not_cut_in_silence(run, segmenter, tmp_path):
    """A name that implies no format means raw text for a segmenter; labels in it are text, which is said."""
    tagged = write(tmp_path / "tagged.txt", ["他们 说", "我们/PN 看/VV 书/NN 。/PU", "他/PN 说/VV 话/NN"])
    told = run("tag", segmenter, tagged).stderr
    assert f"{tagged}:2: found what looks like the format tagged, and cuts it as raw text" in told
    assert "looks like" not in run("tag", segmenter, tagged, "--format", "tagged").stderr
    raw = write(tmp_path / "raw.txt", ["我们看书。", "1/2 的 人 和/或 书"])
    assert "looks like" not in run("tag", segmenter, raw).stderr
