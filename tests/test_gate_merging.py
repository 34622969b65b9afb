"""Requests that wait are merged: the last one wins, and nothing that was pressed is lost."""

import pytest
from streamlit.proto.ClientState_pb2 import ClientState

from bertviz_core.ui.frame.bucket import Bucket
from bertviz_core.ui.frame.gate import MOST_PARTS, MOST_PRESSED, add_request
from tests.gate import Clock, ask, read


def gather(*asked):
    waiting = []
    for one in asked:
        add_request(waiting, one)
    return waiting


def test_a_bucket_lets_a_burst_through_and_then_so_many_a_second():
    clock = Clock()
    bucket = Bucket(20.0, 5, clock)
    for _ in range(5):
        assert bucket.count_wait() == 0
        bucket.take()
    assert bucket.count_wait() == pytest.approx(0.05)
    clock.now += 0.02
    assert bucket.count_wait() == pytest.approx(0.03)
    clock.now += 3600
    assert [bucket.count_wait() or bucket.take() for _ in range(6)] == [None] * 5 + [pytest.approx(0.05)]


def test_of_requests_for_the_page_the_last_wins_and_what_was_pressed_stays():
    (merged,) = gather(
        ask(head="Head 1", first=True),
        ask(head="Head 2", clicks='[{"event": "token"}]'),
        ask(head="Head 3", query="layer=4"),
    )
    assert read(merged) == {"head": "Head 3", "first": True, "clicks": '[{"event": "token"}]'}
    assert merged.query_string == "layer=4"


@pytest.mark.parametrize("part", [None, "menu"])
def test_more_than_anybody_can_press_is_not_kept(part):
    pressed = [ask(*([part] if part else []), **{f"button {i}": True}) for i in range(MOST_PRESSED + 2)]
    (merged,) = gather(*pressed[:-1])
    assert set(read(merged)) == {f"button {i}" for i in range(MOST_PRESSED + 1)}
    (merged,) = gather(*pressed)
    assert read(merged) == {f"button {MOST_PRESSED + 1}": True}


def test_of_very_many_parts_the_last_ones_wait():
    waiting = gather(*(ask(f"part {i}") for i in range(MOST_PARTS + 7)))
    assert [one.fragment_id for one in waiting] == [f"part {i + 7}" for i in range(MOST_PARTS)]


def test_a_bucket_takes_more_than_it_has_and_what_comes_next_waits():
    clock = Clock()
    bucket = Bucket(200.0, 1000, clock)
    bucket.take(1200.0)
    assert bucket.count_wait() == pytest.approx(201 / 200)
    clock.now += 2
    assert bucket.count_wait() == 0


def test_the_whole_page_has_its_parts_in_it():
    waiting = gather(ask("menu", menu=True), ask("drawer", cell='["a"]'), ask("drawer", cell='["b"]'))
    assert [one.fragment_id for one in waiting] == ["menu", "drawer"] and read(waiting[1]) == {"cell": '["b"]'}
    for order in ((*waiting, ask(head="Head 1")), (ask(head="Head 1"), *waiting)):
        (merged,) = gather(*order)
        assert merged.fragment_id == "" and {"menu", "cell"} <= set(read(merged))


def test_a_part_of_a_page_that_is_being_left_is_asked_for_in_vain():
    (merged,) = gather(ask(page="hash of layers"), ask("menu", menu=True))
    assert merged.page_script_hash == "hash of layers" and read(merged) == {}


@pytest.mark.parametrize(("old", "new", "auto", "kept"), [(1, 0, 0, 0), (1, 0, 1, 1), (0, 1, 0, 1), (0, 0, 1, 0)])
def test_going_back_is_forgotten_only_where_somebody_chose_something_since(old, new, auto, kept):
    (merged,) = gather(
        ClientState(is_history_navigation=bool(old)),
        ClientState(is_history_navigation=bool(new), is_auto_rerun=bool(auto)),
    )
    assert merged.is_history_navigation is bool(kept)
