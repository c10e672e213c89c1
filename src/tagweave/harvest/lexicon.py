"""Lexicons: words and their possible tags, read from files.

UTF-8, one entry a line, in any of these forms:

    word
    word TAB TAG|TAG            the tags that the word may have
    word FREQUENCY              the frequency is ignored
    word FREQUENCY TAG          jieba's form, with fields separated by blanks
    word TAG                    the same without a frequency; the tag has up to four small letters

Blank lines are skipped, and so are byte order marks at the beginning of any line, so files may be concatenated. Several
entries of a word become one entry with all their tags; a line without tags adds none. Only words of jieba's forms may
contain blanks.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from tagweave.corpus.characters import BLANKS
from tagweave.corpus.files import read_lines
from tagweave.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates

_FORMS = "word, word TAB TAG|TAG, word FREQUENCY, word FREQUENCY TAG, or word TAG"
_JIEBA = re.compile(r"(?P<word>.+?)(?:(?P<frequency> \d+)(?: (?P<tag>\S+))?| (?P<short>[a-z]{1,4}))?")
_SPACES = BLANKS.replace("\t", "")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """W different words, in the order of the file, and the possible tags of each; `None` if the lexicon gives none."""

    words: tuple[str, ...]
    tags: tuple[Candidates, ...]
    path: str = ""

    def __len__(self) -> int:
        return len(self.words)


def read(path: str) -> Lexicon:
    """Read a lexicon; `-` is standard input, gzip is decompressed."""
    lexicon = parse(read_lines(path), path)
    if not lexicon.words:
        raise CorpusError("no entry", "a lexicon, one word a line", path)
    return lexicon


def parse(lines: Iterable[str], path: str = "") -> Lexicon:
    """Return the lexicon of these lines."""
    entries: dict[str, Candidates] = {}
    for number, line in enumerate(lines, 1):
        line = line.removeprefix("\ufeff")  # noqa: PLW2901
        if not line.strip(BLANKS):
            continue
        word, tags = _entry(line, path, number)
        tags_before = entries.setdefault(word, tags)
        if tags_before is not tags and tags is not None:
            entries[word] = tuple(dict.fromkeys((*(tags_before or ()), *tags)))
    return Lexicon(tuple(entries), tuple(entries.values()), path)


def uncontradicted(lexicon: Lexicon, corpus: Corpus, share: float = 0.9) -> Lexicon:
    """Return the entries that never occur in the text of a corpus, or of whose occurrences at least a share are words.

    Others stand inside longer words or across several, and so they would be found in other text. Raises CorpusError for
    a corpus of characters, whose words are unknown.
    """
    if corpus.unit == "character":
        raise CorpusError("a corpus of characters", "words, to compare them with entries", corpus.path)
    every, right = Counter[str](), Counter[str]()
    wanted, lengths = set(lexicon.words), {len(word) for word in lexicon.words}
    for sentence in corpus:
        text, ends = "".join(sentence.forms), accumulate(map(len, sentence.forms), initial=0)
        words = set(pairwise(ends))
        places = ((start, start + length) for start in range(len(text)) for length in lengths)
        for start, stop in places:
            if stop <= len(text) and (entry := text[start:stop]) in wanted:
                every[entry] += 1
                right[entry] += (start, stop) in words
    entries = zip(lexicon.words, lexicon.tags, strict=True)
    kept = {word: tags for word, tags in entries if right[word] >= share * every[word]}
    return Lexicon(tuple(kept), tuple(kept.values()), lexicon.path)


def _entry(line: str, path: str, number: int) -> tuple[str, Candidates]:
    tabbed = "\t" in line.strip(_SPACES)
    if tabbed:
        fields = [field.strip(_SPACES) for field in line.strip(_SPACES).split("\t")]
        word, tags = fields[0], fields[1:]
    else:
        fields = line.replace("\u3000", " ").split()
        match = _JIEBA.fullmatch(" ".join(fields))
        tags = [tag for tag in (match["tag"], match["short"]) if tag] if match else []
        words = match["word"].split(" ") if match else fields
        if len(words) > 1 and not (match and match["frequency"]) and (not tags or any(map(str.isdecimal, words))):
            raise CorpusError(f"the fields {line.strip(BLANKS)!r}", _FORMS, path, number)
        word = " ".join(words)
    if len(tags) > 1:
        raise CorpusError(f"{len(fields)} fields", _FORMS, path, number)
    if tabbed and (not word or any(blank in text for text in (word, *tags) for blank in _SPACES)):
        raise CorpusError(f"the entry {line!r}", f"a word without blanks in it ({_FORMS})", path, number)
    candidates = tuple(dict.fromkeys(tags[0].split("|"))) if tags else None
    if candidates is not None and "" in candidates:
        raise CorpusError(f"an empty tag in {tags[0]!r}", "tags separated by |", path, number)
    return word, candidates
