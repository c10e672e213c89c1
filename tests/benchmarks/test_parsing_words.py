"""The benchmark of parsing words without tags: both programs are given words, and predict the columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.parsing_words import page, tagweave, udpipe, with_column
from benchmarks.treebanks import DEV, TEST, TRAIN
from treebank import conllu, treebank

pytestmark = pytest.mark.filterwarnings("ignore:builtin type .*:DeprecationWarning")  # of SWIG, in UDPipe


def test_columns() -> None:
    text = "# a\n1-2\tx\tx\tx\n1\ta\tb\tc\n2\td\te\tf\n\n1\tg\th\ti\n"
    assert with_column(text, 2, ["1", "2", "3"]) == "# a\n1-2\tx\tx\tx\n1\ta\t1\tc\n2\td\t2\tf\n\n1\tg\t3\ti\n"
    assert with_column(text, 1) == "# a\n1-2\tx\tx\tx\n1\t_\tb\tc\n2\t_\te\tf\n\n1\t_\th\ti\n"


def test_programs_predict_all_but_the_words(tmp_path: Path) -> None:
    for seed, (name, size) in enumerate({TRAIN: 60, DEV: 20, TEST: 30}.items()):
        lines = [line.split("\t") for line in conllu(treebank(size, seed)).splitlines()]
        for fields in lines:
            fields[4:5] = fields[3:4]  # XPOS as UPOS
        (tmp_path / name).write_text("".join("\t".join(fields) + "\n" for fields in lines) + "\n", encoding="utf-8")
    rows = {"gold": tagweave(tmp_path, True), "predicted": tagweave(tmp_path, False), "udpipe": udpipe(tmp_path)}
    for name, row in rows.items():
        assert 0.5 < row["las"] <= row["uas"] <= 1 and row["upos"] > 0.7 and row["xpos"] > 0.7, name
    assert f"{100 * rows['udpipe']['las']:.2f}" in "\n".join(page({"zh/udc": rows}, "python"))
