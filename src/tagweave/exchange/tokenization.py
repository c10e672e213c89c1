"""How the text of a corpus was cut into its tokens, told from the tokens: so raw text is cut for a model.

Tokens that have punctuation at their ends were cut at blanks, and so were words of scripts without blanks, by hand or
by a segmenter. Others are words (`corpus.word_boundaries`), some of which a guideline joins at a sign (`German-born`),
while it cuts clitics off others (`do|n't`, `l'|eau`): which ones, the tokens tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice, pairwise
from typing import Any, Self

import regex

from tagweave.corpus.word_boundaries import VERSION, Offsets, clusters, runs, words
from tagweave.errors import ExchangeError
from tagweave.exchange.tokens import Tokenizer, tokenizer

_SENTENCES = 2_000  # of a corpus that are looked at
_SIGNS = r"\p{Terminal_Punctuation}"
_ALONE = regex.compile(rf"{_SIGNS}+|[()\[\]\"“”«»]")
_SET_OFF = regex.compile(r"[.,()\[\]。，、،।؟]")  # before other signs some languages have blanks
_GLUED = regex.compile(r".*\w[\p{P}--[.'’\-]]?[\p{Terminal_Punctuation}--.]|[(\[\"“«]\w.*", regex.V1)
_STOPPED = regex.compile(r".*\w{2}\.")
_WITHOUT_BLANKS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_JOINED = regex.compile(r"\w+([\-‐/&'’])\w+")
_CLITIC = regex.compile(r"['’]\p{L}{1,3}|\p{L}{1,4}['’]|n['’]t", regex.IGNORECASE)
_APOSTROPHES = "'’"
_LONGEST = 24  # letters of a word in such a script
_LEAST = 3  # times that a clitic is seen
_TENTH = 0.1


@dataclass(frozen=True, slots=True)
class Tokenization:
    """A way to cut text into tokens: a tokenizer's name, and how a guideline differs from it.

    Attributes:
        tokens: a name of `tokens.TOKENIZERS`.
        version: of the words.
        joined: signs at which a guideline does not cut.
        clitics: in small letters, what it cuts from the words before or after them.
        of_segmenter: whether blanks were put between words of a script without.
    """

    tokens: str = "words"
    version: int = VERSION
    joined: str = ""
    clitics: tuple[str, ...] = ()
    of_segmenter: bool = False

    @classmethod
    def of_forms(cls, sentences: Iterable[Sequence[str]]) -> Self:
        """Tell how sentences of tokens were cut."""
        counts, glued = _counted(list(islice(sentences, _SENTENCES)))
        forms, alone, clustered, written, is_long = counts.total(), 0, 0, 0, False
        joined, clitics, signs = Counter[str](), Counter[str](), Counter[str]()
        for form, count in counts.items():
            if form.isascii() and form.isalnum():  # most are, and then they say nothing else
                is_long = is_long or len(form) > 1
                continue
            is_long = is_long or len(clusters(form)) > 1
            alone += count * (_ALONE.fullmatch(form) is not None)
            glued += count * (_GLUED.fullmatch(form) is not None)
            if _WITHOUT_BLANKS.search(form):
                written += count
                clustered += count * (len(words(form)) > 1)
            if _CLITIC.fullmatch(form):
                clitics[form.lower()] += count
            if match := _JOINED.fullmatch(form):
                joined[match[1]] += count
            elif len(form) == 1:
                signs[form] += count
        if not is_long:
            return cls("characters" if forms and written else "words")
        if clustered > _TENTH * forms:
            return cls("blanks", of_segmenter=True)
        if glued > alone:
            return cls("blanks")
        kept = "".join(  # at apostrophes words are not cut anyway
            sorted(sign for sign, count in joined.items() if sign not in _APOSTROPHES and count > signs[sign])
        )
        return cls(
            "words", VERSION, kept, tuple(sorted(clitic for clitic, count in clitics.items() if count >= _LEAST))
        )

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Return what `to_json` made; words by default, as for models without it."""
        return cls(**{**value, "clitics": tuple(value["clitics"])}) if value else cls()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "clitics": list(self.clitics)}

    def __str__(self) -> str:
        joined = f", whole with {' '.join(self.joined)} inside" if self.joined else ""
        clitics = f", without {' '.join(self.clitics)}" if self.clitics else ""
        return f"{self.tokens}{joined}{clitics}"

    def cut(self, line: str) -> list[Offsets]:
        """Cut a line of raw text.

        Raises:
            ExchangeError: a segmenter has cut the text that the model learned from, and not this line.
        """
        if uncut := self.uncut(line):
            content = f"text without blanks, {uncut[:12]}..."
            raise ExchangeError(f"found {content}, expected words, as the text of the model was cut by a segmenter")
        tokens = tokenizer(self.tokens)(line)
        if any(sign in line for sign in self.joined):
            tokens = self._join(line, tokens)
        return self._split(line, tokens) if self.clitics and any(sign in line for sign in _APOSTROPHES) else tokens

    def uncut(self, line: str) -> str:
        """Return the first text in a line that a segmenter should have cut for the model, or ""."""
        if not self.of_segmenter or len(line) <= _LONGEST:
            return ""
        return next((run for run in line.split() if len(_WITHOUT_BLANKS.findall(run)) > _LONGEST), "")

    def _join(self, line: str, tokens: list[Offsets]) -> list[Offsets]:
        """Undo the cuts at signs between letters or digits."""
        made: list[Offsets] = []
        opened = False
        for start, stop in tokens:
            touches = bool(made) and made[-1][1] == start
            if opened and touches and _is_word(line[start]):
                made[-1] = (made[-1][0], stop)
                opened = False
                continue
            if opened:  # the sign joins nothing
                first, last = made.pop()
                made += [(first, last - 1), (last - 1, last)]
            opened = touches and stop == start + 1 and line[start] in self.joined and _is_word(line[start - 1])
            if opened:
                made[-1] = (made[-1][0], stop)
            else:
                made.append((start, stop))
        if opened:
            first, last = made.pop()
            made += [(first, last - 1), (last - 1, last)]
        return made

    def _split(self, line: str, tokens: list[Offsets]) -> list[Offsets]:
        """Cut clitics off, the longest first."""
        before = tuple(clitic for clitic in self.clitics if clitic[-1] in _APOSTROPHES)
        after = tuple(clitic for clitic in self.clitics if clitic[-1] not in _APOSTROPHES)
        made: list[Offsets] = []
        for start, stop in tokens:
            form = line[start:stop]
            if not any(sign in form for sign in _APOSTROPHES):
                made.append((start, stop))
                continue
            form = form.lower()
            first = max(
                (len(clitic) for clitic in before if form.startswith(clitic) and len(clitic) < len(form)), default=0
            )
            rest = form[first:]
            last = max(
                (len(clitic) for clitic in after if rest.endswith(clitic) and len(clitic) < len(rest)), default=0
            )
            places = [start, *([start + first] if first else []), *([stop - last] if last else []), stop]
            made += pairwise(places)
        return made


def _is_word(character: str) -> bool:
    return character.isalnum()


def is_tokenized(lines: Iterable[str], clitics: Collection[str] = ()) -> bool:
    """Return whether text was cut into tokens before: signs stand between blanks, and seldom at the ends of words."""
    counts, glued = _counted([[line[start:stop] for start, stop in runs(line)] for line in lines])
    alone = 0
    for form, count in counts.items():
        alone += count * (_SET_OFF.fullmatch(form) is not None or form.lower() in clitics)
        glued += count * (_GLUED.fullmatch(form) is not None)
    return alone > 3 * glued


def _counted(sentences: Collection[Sequence[str]]) -> tuple[Counter[str], int]:
    """Return how often each form occurs, and how many sentences end with a full stop that is not cut off."""
    lasts = Counter(forms[-1] for forms in sentences if forms)
    stopped = sum(count for form, count in lasts.items() if _STOPPED.fullmatch(form))
    return Counter(chain.from_iterable(sentences)), stopped


def for_text(tokenization: Tokenization, lines: Iterable[str]) -> Tokenizer:
    """Return what cuts text like these lines for a model: text that was cut before stays as it is."""
    is_cut = tokenization.tokens == "words" and is_tokenized(lines, tokenization.clitics)
    return runs if is_cut else tokenization.cut
