"""A source whose labels or words are hardly any of TRAIN's is named."""

from __future__ import annotations

import pytest
from model_files import write

from tagweave.training.corpora import read_corpus
from tagweave.training.guidelines import overlap_lines, training_data


def lines(tmp_path, task, first, second, method=None):
    paths = [write(tmp_path / name, text) for name, text in (("a.conllu", first), ("b.conllu", second))]
    files = [read_corpus(f"{path.stem}={path}", task, None) for path in paths]
    found = overlap_lines(training_data(files[:1], files[1:], method), task)
    return [line.replace(f"{tmp_path}/", "") for line in found]


def rows(*tokens):
    return [*(f"{n}\t{form}\t_\t{tag}\t_\t_\t{n - 1}\tdep\t_\t_" for n, (form, tag) in enumerate(tokens, 1)), ""]


@pytest.mark.parametrize(
    ("task", "method", "line"),
    [
        ("parse", "stacked", "tags of upos with TRAIN, 33 % of its tokens': its trees come with tags that"),
        ("tag", "merged", "labels with TRAIN, 33 % of its tokens': `method=coupled` tells them apart"),
        ("segment", "merged", "words with TRAIN, 33 % of its tokens': it is segmented in another style"),
    ],
)
def test_what_few_tokens_share_is_told(tmp_path, task, method, line):
    own = rows(("ab", "N"), ("c", "V"), ("d", "V"))
    (found,) = lines(tmp_path, task, own, rows(("ab", "N"), ("cd", "verb")), method)
    assert found.startswith(f"b.conllu shares few {line}")
    assert lines(tmp_path, task, own, rows(("ab", "N"), ("c", "V")), method) == []


def test_labels_of_two_guidelines_differ_as_a_matter_of_course(tmp_path):
    assert lines(tmp_path, "tag", rows(("ab", "N")), rows(("cd", "noun"))) == []
