"""What pages show is what was written down of them, but for the last digits."""

import pytest

from tests.recorded.scenes import SCENES, find_file, record
from tests.recorded.writing import find_differences

_SHOWN = 12  # differences that a failure prints
_AROUND = 60  # characters before the place where two lines part


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(f"recorded: {name}")) for name in SCENES]
)
def test_pages_show_what_is_recorded_of_them(name, tmp_path):
    written = find_file(name).read_text(encoding="utf-8").splitlines()
    shown = list(record(SCENES[name], tmp_path))
    found = find_differences(written, shown)
    assert not found, "\n".join(
        [f"{len(found)} lines differ. If that is meant: python -m tests.recorded {name!r}", *map(tell, found[:_SHOWN])]
    )


def test_each_record_is_of_a_scene():
    assert {file.stem for file in find_file("plain").parent.glob("*.txt")} == set(SCENES)


def tell(difference):
    number, before, after = difference
    start = max(0, next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0) - _AROUND)
    return f"line {number}: {before[start:][:200]}\n{' ' * len(str(number))}    now: {after[start:][:200]}"
