"""Attempts, tokens and fields, without pages."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_tasks import Clock

from tagweave.annotate.page_request import Attempts, FieldError, Fields, is_ours, new_session, parse
from tagweave.annotate.sign_in import network
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, WORD, Answer, label

ANSWERS = st.one_of(st.sampled_from([CANNOT_TELL, NOT_A_WORD, WORD]), st.text(min_size=1).map(label))


class TestAttempts:
    def test_so_many_in_a_window(self) -> None:
        clock = Clock()
        attempts = Attempts(10.0, clock)
        taken = []
        for _ in range(25):
            taken.append(attempts.take({"name": 2}))
            clock.now += 1
        assert [at for at, allowed in enumerate(taken) if allowed] == [0, 1, 10, 11, 20, 21]

    def test_the_strictest_key_counts_and_refusals_do_not(self) -> None:
        attempts = Attempts(10.0, Clock())
        assert [attempts.take({"name": 1, "address": 2}) for _ in range(5)] == [True] + [False] * 4
        assert attempts.take({"other": 1, "address": 2})
        assert not attempts.take({"third": 1, "address": 2})

    def test_what_is_given_back_never_was(self) -> None:
        attempts = Attempts(10.0, Clock())
        for _ in range(5):
            assert attempts.take({"name": 1})
            attempts.give_back({"name": 1})
        attempts.give_back({"name": 1})
        assert attempts.take({"name": 1})

    def test_memory_is_bounded_by_the_window(self) -> None:
        clock = Clock()
        attempts = Attempts(10.0, clock, most_keys=5)
        for number in range(100):
            attempts.take({f"name {number}": 1})
            clock.now += 5
        assert len(attempts._times) <= 6


@pytest.mark.parametrize(
    ("address", "shared"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_addresses_that_somebody_can_choose_from_count_as_one(address: str, shared: str) -> None:
    assert network(address) == shared


class TestToken:
    def test_in_a_field_or_a_header(self) -> None:
        session = new_session()
        assert is_ours(session, {"csrf": session.token}, {})
        assert is_ours(session, {}, {"x-csrf-token": session.token})

    @pytest.mark.parametrize("given", ["", "x", "é"])
    def test_no_other(self, given: str) -> None:
        session = new_session()
        assert not is_ours(session, {"csrf": given}, {})
        assert not is_ours(session, {"csrf": new_session().token}, {})
        assert not is_ours(None, {"csrf": given}, {})


class TestFields:
    @given(ANSWERS)
    def test_an_answer_comes_back_as_a_button_sent_it(self, answer: Answer) -> None:
        value = f"label {answer.label}" if answer.label else answer.kind.value
        assert Fields(answer=value).answer() == answer

    @pytest.mark.parametrize("text", ["", "label", "label ", "Word", "NN", "can't tell "])
    def test_no_answer(self, text: str) -> None:
        with pytest.raises(FieldError, match="found the answer"):
            Fields(answer=text).answer()

    @given(st.integers(0, 999_999_999))
    def test_a_number(self, number: int) -> None:
        assert Fields(task=str(number)).number("task") == number

    @pytest.mark.parametrize("text", ["", "-1", "1.0", "1e3", "٣", "1_000", " 1", "1" * 10, "0x1"])
    def test_no_number(self, text: str) -> None:
        with pytest.raises(FieldError, match="expected a number"):
            Fields(task=text).number("task")

    def test_a_default_is_for_what_is_missing(self) -> None:
        assert Fields().number("after", 7) == 7
        with pytest.raises(FieldError):
            Fields(after="x").number("after", 7)

    @given(st.floats())
    def test_a_time_is_finite(self, seconds: float) -> None:
        fields = Fields(started=repr(seconds))
        if math.isfinite(seconds):
            assert fields.time("started") == seconds
        else:
            with pytest.raises(FieldError, match="expected a time"):
                fields.time("started")
        assert Fields().time("started") is None

    def test_of_one_name_the_last(self) -> None:
        assert parse(b"a=1&b=&a=%E7%A0%94+x") == {"a": "研 x", "b": ""}
        assert parse(b"")["missing"] == ""

    @pytest.mark.parametrize("body", [b"a=%ff", b"\xff", b"a=%00", b"%00=a", b"a=%ed%a0%80", b"&".join([b"a="] * 301)])
    def test_no_form(self, body: bytes) -> None:
        with pytest.raises(FieldError):
            parse(body)

    @given(st.binary(max_size=50))
    def test_any_bytes_are_fields_or_refused(self, body: bytes) -> None:
        try:
            assert all(isinstance(each, str) for each in parse(body).values())
        except FieldError as error:
            assert str(error)
