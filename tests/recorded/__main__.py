"""Write the records anew: `python -m tests.recorded [SCENE ...]`."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.recorded.scenes import SCENES, find_file, record

for name in sys.argv[1:] or SCENES:
    with TemporaryDirectory() as folder:
        text = "\n".join(record(SCENES[name], Path(folder))) + "\n"
    find_file(name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{name}: {len(text):,} characters\n")
