"""The log has few lines of what is no HTTP, and all of what went wrong."""

import logging

from edge.log import APART_S, Seldom, write_seldom

INVALID = "Invalid HTTP request received."


def make(level, message=INVALID, trouble=None):
    return logging.LogRecord("uvicorn.error", level, "h11_impl.py", 1, message, (), trouble)


def test_the_same_warning_is_written_once_a_minute_and_counted():
    now = [100.0]
    seldom = Seldom(lambda: now[0])
    assert [seldom.filter(make(logging.WARNING)) for _ in range(1201)] == [True, *[False] * 1200]
    assert seldom.filter(make(logging.WARNING, "another"))
    now[0] += APART_S
    record = make(logging.WARNING)
    assert seldom.filter(record) and record.getMessage() == f"{INVALID} (1,200 more since the last such line)"
    now[0] += APART_S
    record = make(logging.WARNING)
    assert seldom.filter(record) and record.getMessage() == INVALID


def test_what_went_wrong_is_written_each_time():
    seldom, trouble = Seldom(), (ValueError, ValueError("odd"), None)
    for record in (make(logging.ERROR), make(logging.WARNING, trouble=trouble), make(logging.INFO)):
        assert seldom.filter(record) and seldom.filter(record)


def test_a_logger_has_the_filter_once():
    logger = logging.getLogger("of this test")
    for _ in range(3):
        write_seldom(logger.name)
    assert len(logger.filters) == 1
