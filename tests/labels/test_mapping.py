"""Mapping functions: tight and relaxed, counted from annotation, and in files that may hold anything."""

from __future__ import annotations

import re
import tomllib
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagweave
from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.labels.mapping import (
    CTB_PD,
    SHIPPED,
    MappingError,
    TagMapping,
    count_pairs,
    read_mapping,
)
from tagweave.labels.space import collect_names

ROOT = Path(__file__).parents[2]

SMALL = st.builds(
    TagMapping,
    st.just("a"),
    st.just("b"),
    st.dictionaries(st.tuples(st.sampled_from("ABCD"), st.sampled_from("wxyz")), st.integers(1, 5), min_size=1),
)
MASSES = st.sampled_from([0.1, 0.25, 0.5, 0.55, 0.75, 0.9, 1.0])

# N is 10 times n, v or x, V is 8 times v or x; v is 7 times N or V, x is 3 times N or V
VERBS = TagMapping("ctb", "pd", {("N", "n"): 8, ("N", "x"): 1, ("N", "v"): 1, ("V", "v"): 6, ("V", "x"): 2})


class TestMapping:
    @pytest.mark.parametrize(
        ("first", "second", "counts", "message"),
        [
            ("ctb", "ctb", {("N", "n"): 1}, "found a mapping of 'ctb' to itself, expected two guidelines"),
            ("ctb", "pd", {}, "found no pair in the mapping of 'ctb' and 'pd', expected at least one"),
            ("ctb", "pd", {("N", "n"): 0}, "found the count 0 of the pair ('N', 'n'), expected 1 or more"),
            ("ctb", "pd", {("N", "n"): 1, ("V", "v"): -3}, "found the count -3 of the pair ('V', 'v')"),
        ],
    )
    def test_what_is_no_mapping_raises(
        self, first: str, second: str, counts: dict[tuple[str, str], int], message: str
    ) -> None:
        with pytest.raises(MappingError, match=re.escape(message)):
            TagMapping(first, second, counts)

    def test_pairs_that_are_rare_go(self) -> None:
        assert VERBS.at_least(1) == VERBS
        assert VERBS.at_least(2).counts == {("N", "n"): 8, ("V", "v"): 6, ("V", "x"): 2}

    def test_but_every_tag_keeps_its_most_frequent_pair(self) -> None:
        assert VERBS.at_least(8).pairs == {("N", "n"), ("V", "v"), ("V", "x")}
        assert VERBS.at_least(9) == VERBS.at_least(99)


class TestAllowed:
    """The mapping function as a matrix."""

    @given(SMALL, st.sets(st.sampled_from("ABCDE"), min_size=1), st.sets(st.sampled_from("vwxyz"), min_size=1))
    def test_brute_force(self, mapping: TagMapping, first: set[str], second: set[str]) -> None:
        known = {(a, b) for a, b in product(first, second) if (a, b) in mapping.counts}
        unnamed = first - {a for a, _ in known}, second - {b for _, b in known}
        a_tags, b_tags = sorted(first), sorted(second)
        assert mapping.unnamed(a_tags, b_tags) == tuple(tuple(sorted(tags)) for tags in unnamed)
        allowed = mapping.allowed(a_tags, b_tags)
        for (i, a), (j, b) in product(enumerate(a_tags), enumerate(b_tags)):
            assert allowed[i, j] == ((a, b) in known or a in unnamed[0] or b in unnamed[1])
        assert allowed.any(axis=0).all()
        assert allowed.any(axis=1).all()


class TestTight:
    def test_a_share_that_is_reached_exactly_is_reached(self) -> None:
        """0.55 * 100 is more than 55 in floating point."""
        mapping = TagMapping("1", "2", {("N", "n"): 55, ("N", "v"): 45, ("V", "n"): 500, ("V", "v"): 500})
        assert mapping.tight(0.55).pairs == {("N", "n"), ("V", "n"), ("V", "v")}

    @given(SMALL, MASSES)
    def test_brute_force(self, mapping: TagMapping, mass: float) -> None:
        """A pair is in, if the pairs before it fall short of the share, on one of its sides."""
        kept = set()
        for pair, side in product(mapping.counts, (0, 1)):
            same = {other: count for other, count in mapping.counts.items() if other[side] == pair[side]}
            before = [
                count
                for other, count in same.items()
                if count > same[pair] or (count == same[pair] and other[1 - side] < pair[1 - side])
            ]
            if 100 * sum(before) < round(100 * mass) * sum(same.values()):
                kept.add(pair)
        assert mapping.tight(mass).pairs == kept

    @pytest.mark.parametrize("mass", [0.0, -0.1, 1.01, float("nan")])
    def test_a_share_is_more_than_nothing_and_at_most_all(self, mass: float) -> None:
        with pytest.raises(MappingError, match="expected more than 0 and at most 1"):
            VERBS.tight(mass)


class TestCountPairs:
    def test_positions_with_one_label_on_both_sides_count(self) -> None:
        sentences = [
            Sentence(("a", "b", "c"), {"ctb": (("N",), ("N",), ("V",)), "pd": (("n",), ("n",), ("v",))}),
            Sentence(("a", "b", "c"), {"ctb": (("N", "V"), None, ("V",)), "pd": (("n",), ("n",), ("v", "n"))}),
            Sentence(("a",), {"ctb": (("B-*",),), "pd": (("n",),)}),
            Sentence(("a",), {"ctb": (("V",),)}),
            Sentence(("a",), {"pd": (("v",),)}),
            Sentence((), {"ctb": (), "pd": ()}),
        ]
        assert count_pairs("ctb", "pd", sentences) == TagMapping("ctb", "pd", {("N", "n"): 2, ("V", "v"): 1})
        assert count_pairs("pd", "ctb", sentences) == count_pairs("ctb", "pd", sentences).swapped()

    @pytest.mark.parametrize("sentences", [[], [Sentence(("a",), {"ctb": (("N",),), "pd": (None,)})]])
    def test_nothing_to_count_raises(self, sentences: list[Sentence]) -> None:
        with pytest.raises(CorpusError, match="found no position with one label of ctb and one of pd, expected"):
            count_pairs("ctb", "pd", sentences)


def read(folder: Path, text: str | bytes) -> TagMapping:
    path = folder / "m.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_mapping(path)


class TestFiles:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("# ctb\tpd\nN\tn\t3\nV\tv\n", TagMapping("ctb", "pd", {("N", "n"): 3, ("V", "v"): 1})),
            ("N\tn\n", TagMapping("", "", {("N", "n"): 1})),
            ("#\tw\t2\n##\t#\n", TagMapping("", "", {("#", "w"): 2, ("##", "#"): 1})),
            ("# ctb\tpd\n#\t#\n", TagMapping("ctb", "pd", {("#", "#"): 1})),
            ("# what this is\n\n#\n  \nN\tn\n# N\tv\n", TagMapping("", "", {("N", "n"): 1})),
            ("\ufeff# ctb\tpd\r\n\r\nN\tn\r\n", TagMapping("ctb", "pd", {("N", "n"): 1})),
            ("N\tn\t7", TagMapping("", "", {("N", "n"): 7})),
        ],
    )
    def test_read(self, tmp_path: Path, text: str, expected: TagMapping) -> None:
        assert read(tmp_path, text) == expected

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("N\tn\nN n\n", "2: found 'N n', expected TAG<TAB>TAG or TAG<TAB>TAG<TAB>COUNT, tags without blanks"),
            ("N\n", "1: found 'N', expected TAG<TAB>TAG"),
            ("#N\n", "1: found '#N', expected TAG<TAB>TAG"),
            ("N\t\n", "1: found 'N\\t', expected TAG<TAB>TAG"),
            ("\tn\n", "1: found '\\tn', expected TAG<TAB>TAG"),
            ("N\tn \n", "1: found 'N\\tn ', expected TAG<TAB>TAG"),
            ("N\tn\t1\t2\n", "1: found 'N\\tn\\t1\\t2', expected TAG<TAB>TAG"),
            ("N\tn\t0\n", "1: found the count '0', expected a whole number from 1, of at most 18 digits"),
            ("N\tn\t-1\n", "1: found the count '-1', expected"),
            ("N\tn\t1.5\n", "1: found the count '1.5', expected"),
            ("N\tn\t\n", "1: found the count '', expected"),
            ("N\tn\t٣\n", "1: found the count '٣', expected"),
            ("N\tn\t" + "9" * 5000 + "\n", "1: found the count '999"),
            ("N\tn\n\nV\tv\nN\tn\t4\n", "4: found the pair 'N' 'n' a second time, expected each pair once"),
            ("# a\tb\tc\nN\tn\n", "1: found the first line '# a\\tb\\tc', expected # FIRST<TAB>SECOND"),
            ("# ctb\t\nN\tn\n", "1: found the first line '# ctb\\t', expected # FIRST<TAB>SECOND"),
            ("# ctb\tctb\nN\tn\n", "1: found the first line '# ctb\\tctb', expected # FIRST<TAB>SECOND"),
            ("# the tags of ctb\tpd\nN\tn\n", "1: found the first line '# the tags of ctb\\tpd', expected"),
            (b"N\tn\nV\t\xff\n", "2: found the byte 0xff"),
            (b"N\tn\nV\t\0\n", "2: found a NUL character"),
            ("", " found no pair of tags, expected at least one line TAG<TAB>TAG"),
            ("# ctb\tpd\n# N\tn\n", " found no pair of tags, expected at least one line TAG<TAB>TAG"),
        ],
    )
    def test_a_bad_line_is_named(self, tmp_path: Path, text: str | bytes, message: str) -> None:
        with pytest.raises(CorpusError, match=re.escape(f"{tmp_path / 'm.tsv'}:{message}")):
            read(tmp_path, text)

    @given(st.data())
    def test_a_damaged_file_is_read_as_it_stands_or_refused(self, data: st.DataObject) -> None:
        content = bytearray(CTB_PD.read_bytes()[-120:])
        for _ in range(data.draw(st.integers(1, 4))):
            start = data.draw(st.integers(0, len(content)))
            end = data.draw(st.integers(start, min(len(content), start + 4)))
            content[start:end] = data.draw(
                st.sampled_from([b"", b"\t", b"\n", b"#", b"# ", b"0", b"\xff", b" ", b"NN"])
            )
        with TemporaryDirectory() as name:
            try:
                mapping = read(Path(name), bytes(content))
            except CorpusError as error:
                assert str(error).startswith(f"{Path(name, 'm.tsv')}:")
                assert "expected" in str(error)
                return
        lines = [line for line in content.decode().split("\n") if line.strip() and line != "#" and line[:2] != "# "]
        fields = [[*line.split("\t"), "1"][:3] for line in lines]
        assert mapping.counts == {(first, second): int(count) for first, second, count in fields}
        assert len(lines) == len(mapping.counts)


class TestShipped:
    @pytest.mark.parametrize("name", SHIPPED)
    def test_it_reads(self, name: str) -> None:
        mapping = read_mapping(SHIPPED[name])
        assert f"{mapping.first}-{mapping.second}" == name

    def test_the_counts_are_those_of_the_table(self) -> None:
        """Sun and Wan (2012), section 3.1: 3561 words, of which 552 are punctuation."""
        counts = read_mapping(CTB_PD).counts
        assert sum(counts.values()) == 3561
        assert {pair: count for pair, count in counts.items() if "PU" in pair} == {("PU", "w"): 552}
        assert (counts["NN", "n"], counts["NR", "nt"], counts["AD", "t"]) == (738, 21, 1)
        assert len(counts) == 94
        assert {len({pair[side] for pair in counts}) for side in (0, 1)} == {28}

    def test_its_tags_are_spelled_as_in_the_sample(self) -> None:
        mapping = read_mapping(CTB_PD)
        for side, name in enumerate(("ctb.txt", "pd.txt")):
            corpus = load(str(sample.path(name)))
            tags = collect_names(sentence.layers["tag"] for sentence in corpus)
            assert {pair[side] for pair in mapping.pairs} <= {*tags}

    def test_it_is_beside_the_code_that_a_wheel_holds(self) -> None:
        build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
        inside = CTB_PD.relative_to(Path(tagweave.__file__).parent)
        assert any((ROOT / package / inside).is_file() for package in build["targets"]["wheel"]["packages"])
