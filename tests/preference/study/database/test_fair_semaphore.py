"""First come, first served."""

from __future__ import annotations

import threading
import time

import pytest

from rushes.preference.study.database.fair_semaphore import Turns


def test_waiting_threads_enter_in_the_order_they_came():
    turns, order, threads = Turns(1), [], []

    def enter(number: int) -> None:
        with turns:
            order.append(number)

    with turns:
        for number in range(8):
            thread = threading.Thread(target=enter, args=(number,))
            thread.start()
            while len(turns._waiting) <= number:  # the next one starts once this one waits
                time.sleep(0.001)
            threads.append(thread)
    for thread in threads:
        thread.join()
    assert order == list(range(8)) and turns.free == 1


def test_never_more_inside_than_there_are_places():
    turns, inside, most, guard = Turns(3), [0], [0], threading.Lock()

    def work() -> None:
        for _ in range(50):
            with turns:
                with guard:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                with guard:
                    inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= most[0] <= 3 and turns.free == 3


def test_an_error_inside_gives_the_place_back():
    turns = Turns(1)
    with pytest.raises(RuntimeError), turns:
        raise RuntimeError
    assert turns.free == 1
