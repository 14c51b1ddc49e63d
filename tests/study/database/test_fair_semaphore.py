"""First come, first served."""

from __future__ import annotations

import threading
import time

import pytest

from rushes.study.database.fair_semaphore import FairSemaphore


def test_waiting_threads_enter_in_the_order_they_came():
    semaphore, order, threads = FairSemaphore(1), [], []

    def enter(number: int) -> None:
        with semaphore:
            order.append(number)

    with semaphore:
        for number in range(8):
            thread = threading.Thread(target=enter, args=(number,))
            thread.start()
            while len(semaphore._waiting) <= number:  # the next one starts once this one waits
                time.sleep(0.001)
            threads.append(thread)
    for thread in threads:
        thread.join()
    assert order == list(range(8)) and semaphore.free == 1


def test_never_more_inside_than_there_are_places():
    semaphore, inside, most, guard = FairSemaphore(3), [0], [0], threading.Lock()

    def work() -> None:
        for _ in range(50):
            with semaphore:
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
    assert 1 <= most[0] <= 3 and semaphore.free == 3


def test_an_error_inside_gives_the_place_back():
    semaphore = FairSemaphore(1)
    with pytest.raises(RuntimeError), semaphore:
        raise RuntimeError
    assert semaphore.free == 1
