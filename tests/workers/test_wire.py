"""Messages between a parent and its worker: what was sent comes out, large arrays without a copy."""

from __future__ import annotations

import os
import socket
import threading

import numpy as np
import pytest

from rushes.workers.wire import Inbox, Message, packed, send


def exchanged(message: Message) -> Message:
    """The message after its way through a socket."""
    one, other = socket.socketpair()
    with one, other:
        writer = threading.Thread(target=send, args=(one.fileno(), message))
        writer.start()
        arrived = Inbox(other.fileno()).receive()
        writer.join()
    return arrived


@pytest.mark.parametrize("value", [None, {"clip": "take.mp4"}, b"x" * 3_000_000])
def test_a_value_arrives(value: object) -> None:
    arrived = exchanged(packed("done", value))
    assert (arrived.kind, arrived.value()) == ("done", value)


def test_a_large_array_travels_beside_the_pickle() -> None:
    large, small = np.arange(300_000, dtype=np.float32).reshape(3, 100, 1000), np.arange(5)
    sent = packed("part", (large, small))
    assert len(sent.arrays) == 1 and np.shares_memory(np.frombuffer(sent.arrays[0], np.float32), large)
    arrived = exchanged(sent)
    assert len(arrived.pickled) < 2000
    taken = arrived.value()
    np.testing.assert_array_equal(taken[0], large)
    np.testing.assert_array_equal(taken[1], small)
    assert taken[0].flags.writeable and np.shares_memory(taken[0], arrived.arrays[0])


def test_small_messages_are_read_together_and_large_ones_between_them() -> None:
    large = np.arange(100_000)
    sent = [packed("part", 1), packed("part", 2), packed("part", large), packed("part", 4), packed("done", 5)]
    one, other = socket.socketpair()
    with one, other:
        writer = threading.Thread(target=send, args=(one.fileno(), *sent))
        writer.start()
        inbox = Inbox(other.fileno())
        assert not inbox.has_message
        assert inbox.receive().value() == 1 and inbox.has_message
        assert inbox.receive().value() == 2 and not inbox.has_message  # what follows has an array beside it
        np.testing.assert_array_equal(inbox.receive().value(), large)
        writer.join()
        assert [inbox.receive().value() for _ in range(2)] == [4, 5] and not inbox.has_message


def test_an_error_is_raised_where_it_arrives() -> None:
    with pytest.raises(ValueError, match="a defect"):
        exchanged(packed("error", ValueError("a defect"))).value()


def test_an_end_in_the_middle_of_a_message() -> None:
    one, other = socket.socketpair()
    with other:
        with one:
            os.write(one.fileno(), b"\x03half a head")
        with pytest.raises(EOFError):
            Inbox(other.fileno()).receive()
