"""What pages show is what was written down of them, but for the last digits."""

import pytest

from tests.often import together
from tests.recorded.scenes import SCENES, find_file, record
from tests.recorded.writing import find_differences

_SHOWN = 12  # differences that a failure prints
_AROUND = 60  # characters before the place where two lines part


@pytest.mark.parametrize("name", together("recorded", SCENES, ("plain", "difference")))
def test_pages_show_what_is_recorded_of_them(name, tmp_path):
    written = find_file(name).read_text(encoding="utf-8").splitlines()
    shown = list(record(SCENES[name], tmp_path))
    found = find_differences(written, shown)
    assert not found, "\n".join(
        [f"{len(found)} lines differ. If that is meant: python -m tests.recorded {name!r}", *map(tell, found[:_SHOWN])]
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Difference: 5.131·10⁻⁸.", "Difference: 1.730·10⁻⁸."),
        ("Difference: 0.</p>", "Difference: 9.934·10⁻⁹.</p>"),
        ("<td>9.999·10⁻⁵</td>", "<td>0.0001000</td>"),
        ("<b>−6.233·10⁻⁵</b>", "<b>−6.221·10⁻⁵</b>"),
        (r"-2.647\times 10^{-5} + 1.0000", r"-2.660\times 10^{-5} + 1.0001"),
        ("1.2·10⁷, −31,494.94", "1.3·10⁷, −31,494.95"),
        ("1.901e-08 | −0.0001733", "2.6e-09 | −0.0001731"),
    ],
)
def test_what_another_processor_rounds_is_no_difference(written, shown):
    assert not find_differences([written], [shown])


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("5.148·10⁻⁶ instead", "2.400·10⁻⁶ instead"),
        ("1.000·10⁻¹²", "1.000·10⁻⁵"),
        ("1.235·10⁸", "1.238·10⁸"),
        ("2.647·10⁻⁵", "−2.647·10⁻⁵"),
        ("0.4321", "0.4331"),
        ("12 operands", "13 operands"),
        ("a 5.1·10⁻⁸", "the 5.1·10⁻⁸"),
    ],
)
def test_another_number_is_a_difference(written, shown):
    assert find_differences([written], [shown])


def test_each_record_is_of_a_scene():
    assert {file.stem for file in find_file("plain").parent.glob("*.txt")} == set(SCENES)


def tell(difference):
    number, before, after = difference
    start = max(0, next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0) - _AROUND)
    return f"line {number}: {before[start:][:200]}\n{' ' * len(str(number))}    now: {after[start:][:200]}"
