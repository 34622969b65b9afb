"""What visitors can make as long as a link may be is read in one go: nothing is looked at again from each sign."""

import subprocess
import sys

from bertviz_core.ui.frame.keys import LONGEST

# A second in all; where every sign is a new start, minutes of each, and the interpreter's lock is held all the while.
READ = f"""
from bertviz_core import load_model
from bertviz_core.analysis.playground import read_score
from bertviz_core.errors import InputError
from bertviz_core.tracing.inputs import cut_to_fit
from bertviz_core.ui.views.parameters import _BESIDE

for text in ["1" * {LONGEST} + "x", "." + "1" * {LONGEST} + "x", "1" * {LONGEST} + ".x"] * 10:
    try:
        read_score(text)
    except InputError:
        continue
    raise SystemExit("it was taken for a number")
model, words = load_model(), {LONGEST} // 10
for space in (" ", "\\u2003") * 8:
    cut, pair = cut_to_fit(model, space + "cat " * words + space * ({LONGEST} - 4 * words))
    assert cut == space + ("cat " * 510).rstrip() and pair is None
for _ in range(100):
    assert _BESIDE.sub("", "[" * {LONGEST}) == "[" * {LONGEST}
"""


def test_texts_as_long_as_may_be_are_read_at_once():
    subprocess.run([sys.executable, "-c", READ], check=True, timeout=90)
