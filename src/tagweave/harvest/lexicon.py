"""Lexicons: words, and the tags that each may have, read from files.

UTF-8, one entry a line, in any of these forms:

    word
    word TAB TAG|TAG            the tags that the word may have
    word FREQUENCY              the frequency is not used
    word FREQUENCY TAG          jieba's form, its fields separated by blanks

Lines of nothing but blanks are skipped, and so are byte order marks, at every line's beginning: files may be joined.
Entries of one word are one entry, with the tags of all of them; a line without tags adds none. No entry contains a
blank: words do not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tagweave.corpus.blanks import BLANKS
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.text_file import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates

_FORMS = "word, word TAB TAG|TAG, word FREQUENCY, or word FREQUENCY TAG"
_SPACES = BLANKS.replace("\t", "")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words and their tags.

    Attributes:
        words: W different words, in the order of the file, none of them empty.
        tags: per word the tags that it may have; `None` where the lexicon does not say.
        path: the file, for messages.

    Raises:
        CorpusError: an empty or repeated word, or another number of tags than of words.
    """

    words: tuple[str, ...]
    tags: tuple[Candidates, ...]
    path: str = ""

    def __post_init__(self) -> None:
        if len(self.words) != len(self.tags):
            raise CorpusError(f"{len(self.tags)} sets of tags", f"{len(self.words)}, one a word", self.path)
        if "" in self.words or len(set(self.words)) < len(self.words):
            raise CorpusError("an empty or repeated word", "different words", self.path)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def has_tags(self) -> bool:
        """Whether it says of any word which tags it may have."""
        return any(candidates is not None for candidates in self.tags)


def read(path: str) -> Lexicon:
    """The lexicon in a file; `-` is standard input, gzip is decompressed.

    Raises:
        CorpusError: a line in none of the forms, with file and line; as `read_lines`; a file without any entry.
        OSError: the file cannot be read.
    """
    lexicon = parse(read_lines(path), path)
    if not lexicon.words:
        raise CorpusError("no entry", "a lexicon, one word a line", path)
    return lexicon


def parse(lines: Iterable[str], path: str = "") -> Lexicon:
    """The lexicon of these lines. Raises CorpusError as `read`."""
    entries: dict[str, Candidates] = {}
    for number, line in enumerate(lines, 1):
        line = line.removeprefix("\ufeff")  # noqa: PLW2901
        if not line.strip(BLANKS):
            continue
        word, tags = _entry(line, path, number)
        known = entries.setdefault(word, tags)
        if known is not tags and tags is not None:
            entries[word] = tuple(dict.fromkeys((*(known or ()), *tags)))
    return Lexicon(tuple(entries), tuple(entries.values()), path)


def frequent_words(corpora: Iterable[Corpus], count: int) -> Lexicon:
    """The `count` most frequent words of corpora, the most frequent first, equally frequent ones in alphabetic order.

    With those of its own field they are the lexicon of liu-2014, 5.1.3.

    Raises:
        CorpusError: a corpus of characters, whose words are not told.
    """
    counts: Counter[str] = Counter()
    for corpus in corpora:
        if corpus.unit == "character":
            raise CorpusError("a corpus of characters", "words, to count them", corpus.path)
        for sentence in corpus:
            counts.update(sentence.forms)
    words = sorted((word for word in counts if word), key=lambda word: (-counts[word], word))[:count]
    return Lexicon(tuple(words), (None,) * len(words))


def _entry(line: str, path: str, number: int) -> tuple[str, Candidates]:
    """The word of a line, and its tags."""
    tabbed = "\t" in line.strip(_SPACES)
    if tabbed:
        fields = [field.strip(_SPACES) for field in line.strip(_SPACES).split("\t")]
        word, tags = fields[0], fields[1:]
    else:
        fields = line.replace("\u3000", " ").split(" ")
        word, *tags = [field for field in fields if field]
        if tags and tags[0].isdecimal():
            tags = tags[1:]
        elif tags:
            raise CorpusError(f"the fields {line.strip(BLANKS)!r}", _FORMS, path, number)
    if len(tags) > 1:
        raise CorpusError(f"{len(fields)} fields", _FORMS, path, number)
    if tabbed and (not word or any(blank in text for text in (word, *tags) for blank in _SPACES)):
        raise CorpusError(f"the entry {line!r}", f"a word without blanks in it ({_FORMS})", path, number)
    return word, _candidates(tags[0], path, number) if tags else None


def _candidates(field: str, path: str, number: int) -> Candidates:
    tags = tuple(dict.fromkeys(field.split("|"))) if "|" in field or not field else (field,)
    if "" in tags:
        raise CorpusError(f"an empty tag in {field!r}", "tags separated by |", path, number)
    return tags
