"""Mutations of files of other tools: bytes, huge numbers, nulls, references, nesting, repetition, sizes in headers.

Those of values are made in texts, also of files in a zip and of compressed data; sizes in binary data.
"""

from __future__ import annotations

import gzip
import io
import random
import re
import struct
import zipfile
import zlib

_PIECES = (
    b"\0",
    b"\xff",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b"<",
    b">",
    b"&",
    b"\t",
    b"\n",
    b"-1",
    b"9" * 30,
    b"1e999",
    b"\\",
    b"null",
)
_HUGE = (b"-1", b"2147483648", b"4294967295", b"9223372036854775808", b"9" * 400, b"1e999", b"0.5", b"NaN", b"9" * 5000)
_NOTHING = (b"null", b"true", b"[]", b"{}", b'""', b"[null]")
_NUMBER = re.compile(rb"\d+")
_VALUE = re.compile(rb'"[^"\n]{0,200}"|\b\d+\b')
_SIZES = (
    b"\xff\xff\xff\x7f",
    b"\xff\xff\xff\xff",
    b"\xff" * 8,
    b"\xff\xff\xff\xff\x0f",
    b"\x80\x80\x80\x80\x04",
    b"\0",
)
_DEPTHS = (10, 400, 950, 100_000)
_REPEATED = 1 << 21  # bytes of what is repeated, at most
_TEXT = 0.95  # of bytes that are letters, blanks, or signs


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to three changes; of a zip or of compressed data three times of four inside."""
    if rng.random() < 0.02:
        return gzip.compress(data * rng.choice((1, 1000, 100_000)), 1)
    if data[:2] == b"PK" and rng.random() < 0.75:
        return _rezipped(data, rng)
    if data[:1] == b"\x78" and rng.random() < 0.75:
        return zlib.compress(_changed(zlib.decompress(data), rng), 1)
    return _changed(data, rng)


def _rezipped(data: bytes, rng: random.Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before:
        files = [(name, before.read(name)) for name in before.namelist()]
    at = rng.randrange(len(files))
    name, content = files[at]
    kind = rng.randrange(8)
    if kind == 0:
        files += [(f"{number}/{name}", content) for number in range(rng.choice((3, 2000)))]
    elif kind == 1:
        files[at] = ("a" * rng.choice((300, 60_000)) + name, content)
    elif kind == 2:
        files[at] = (name, content + b" " * rng.choice((1 << 20, 1 << 26)))
    else:
        files[at] = (name, _changed(content, rng))
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as after:
        for name, content in files:
            after.writestr(name, content)
    return stream.getvalue()


def _changed(data: bytes, rng: random.Random) -> bytes:
    text = sum(each in b"\t\n\r" or 32 <= each < 127 for each in data[:4096]) >= _TEXT * len(data[:4096])
    for _ in range(rng.randint(1, 3)):
        kinds = (_bytes, _bytes, _numbers, _nothing, _reference, _nested, _repeated) if text else (_bytes, _size, _size)
        data = rng.choice(kinds)(data, rng)
    return data


def _bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    at, kind = rng.randrange(len(changed) + 1), rng.randrange(5)
    if kind == 0:
        changed[at:at] = rng.choice(_PIECES)
    elif kind == 1:
        del changed[at : at + rng.randint(1, 8)]
    elif kind == 2:
        changed[at : at + 1] = bytes([rng.randrange(256)])
    elif kind == 3:
        changed[at : at + 1] = rng.choice(b"0123456789,:;|-_").to_bytes(1, "big")
    else:
        del changed[at:]
        changed += data[at + rng.randint(0, 4) :]
    return bytes(changed)


def _replaced(data: bytes, pattern: re.Pattern[bytes], by: bytes, rng: random.Random) -> bytes:
    """Replace one match of a pattern."""
    found = list(pattern.finditer(data[:_REPEATED]))
    if not found:
        return data
    chosen = rng.choice(found)
    return data[: chosen.start()] + by + data[chosen.end() :]


def _numbers(data: bytes, rng: random.Random) -> bytes:
    return _replaced(data, _NUMBER, rng.choice(_HUGE), rng)


def _nothing(data: bytes, rng: random.Random) -> bytes:
    return _replaced(data, _VALUE, rng.choice(_NOTHING), rng)


def _reference(data: bytes, rng: random.Random) -> bytes:
    """Replace a value by another one of the file: names and numbers then refer to themselves, or to others."""
    found = _VALUE.findall(data[:_REPEATED])
    return _replaced(data, _VALUE, rng.choice(found), rng) if found else data


def _nested(data: bytes, rng: random.Random) -> bytes:
    depth = rng.choice(_DEPTHS)
    begin, end = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"<a>", b"</a>")))
    return _replaced(data, _VALUE, begin * depth + b"1" + end * depth, rng)


def _repeated(data: bytes, rng: random.Random) -> bytes:
    """Repeat a line, an object, an element, or a value."""
    pattern = rng.choice(
        (rb"[^\n]+\n?", rb"\{[^{}]{0,500}\},?", rb"<[^<>]{0,500}/>", rb'"[^"\n]{0,99}",?', rb"[^\t\n]{1,99}\t")
    )
    found = [each for each in re.findall(pattern, data[:_REPEATED]) if each]
    if not found:
        return data
    chosen = rng.choice(found)
    return data.replace(chosen, chosen * max(1, rng.choice((100, _REPEATED // len(chosen)))), 1)


def _size(data: bytes, rng: random.Random) -> bytes:
    """Write a huge number over some bytes, often near the end, where zips have the sizes of their files."""
    near_end = rng.random() < 0.5
    at = max(0, len(data) - rng.randrange(1, 1500)) if near_end else rng.randrange(len(data) + 1)
    size = rng.choice((*_SIZES, struct.pack("<i", rng.randrange(1 << 31))))
    return data[:at] + size + data[at + len(size) * rng.randrange(2) :]
