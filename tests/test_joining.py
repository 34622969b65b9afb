"""Modules of JavaScript are joined to one script that means what they mean, and what cannot be joined is refused."""

import json

import pytest

from bertviz_core.ui.components.joining import JoiningError, join_modules, list_modules
from tests.scripts import COMPONENTS, FOLDERS, run_node

SOUND = {
    "one/index.js": 'import { twice } from "../two/twice.js";\n'
                    'import WORDS from "./words.json" with { type: "json" };\n'
                    "import {\n  first,\n  open as begin,\n} from \"./parts.js\";\n\nconst open = () => 'mine';\n\n"
                    "export default function (n) {\n  return [twice(n), WORDS.name, first, begin(), open()];\n}\n",
    "one/parts.js": 'import { twice } from "../two/twice.js";\n\n'
                    "const hidden = 2;\nexport const first = twice(hidden);\n"
                    "export function open() {\n  return 'its';\n}\n",
    "one/words.json": '{"name": "“a” </script>"}',
    "two/twice.js": "const hidden = 2;\n// of export and import\nexport function twice(n) {\n  return hidden * n;\n}\n",
}  # fmt: skip
REFUSED = {
    "a name for all": ('import * as all from "./parts.js";\n', "cannot join"),
    "a library": ('import { a } from "react";\n', "cannot join"),
    "a module for its effects": ('import "./parts.js";\n', "cannot join"),
    "an import on demand": ('const parts = import("./parts.js");\n', "cannot join"),
    "what stands beside the module": ("const here = import.meta.url;\n", "cannot join"),
    "a list of exports": ("const a = 1;\nexport { a };\n", "cannot join"),
    "an export that changes": ("export let a = 1;\n", "cannot join"),
    "an export in pieces": ("export const { a } = {};\n", "cannot join"),
    "another's export": ('export { first } from "./parts.js";\n', "cannot join"),
    "a module that is not there": ('import { a } from "./none.js";\n', "not there"),
    "a name that is not exported": ('import { hidden } from "./parts.js";\n', "does not export"),
    "two imports of one module": ('import { first } from "./parts.js";\nimport { open } from "./parts.js";\n', "twice"),
    "itself": ('import { more } from "./more.js";\n', "circle"),
    "a default that nobody calls": ("export default function () {}\n", "default"),
}


@pytest.fixture
def folder(tmp_path):
    for name, text in SOUND.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def test_the_script_means_what_the_modules_mean(folder):
    joined = join_modules(folder / "one" / "index.js", folder)
    own = f'import made from "{(folder / "one" / "index.js").as_uri()}";'
    wish = "console.log(JSON.stringify(made(21)));"
    said = json.loads(run_node(f"{joined.replace('export default', 'const made =')}\n{wish}"))
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    assert said == json.loads(run_node(f"{own}\n{wish}")) == [42, "“a” </script>", 4, "its", "mine"]


def test_each_module_stands_once_under_its_name_and_behind_what_it_needs(folder):
    joined = join_modules(folder / "one" / "index.js", folder)
    names = [line[3:] for line in joined.splitlines() if line.startswith("// ") and line.endswith((".js", ".json"))]
    assert names == ["two/twice.js", "one/words.json", "one/parts.js", "one/index.js"]
    assert [file.name for file in list_modules(folder / "one" / "index.js")] == [name[4:] for name in names]


@pytest.mark.parametrize(("text", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_joined_is_refused(folder, text, told):
    entry = folder / "one" / "index.js"
    entry.write_text(f'import {{ more }} from "./more.js";\n{SOUND["one/index.js"]}', encoding="utf-8")
    (folder / "one" / "more.js").write_text(f"{text}export const more = 1;\n", encoding="utf-8")
    with pytest.raises(JoiningError, match=told):
        join_modules(entry, folder)


def test_a_component_without_a_default_export_is_refused(folder):
    entry = folder / "one" / "index.js"
    entry.write_text("const nothing = 1;\n", encoding="utf-8")
    with pytest.raises(JoiningError, match="must have 1 default export"):
        join_modules(entry, folder)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_script_of_a_component_is_a_module_that_the_browser_can_read(name):
    joined = join_modules(COMPONENTS / name / "index.js", COMPONENTS)
    assert joined.count("export default function") == 1
    run_node(joined, "--check")
