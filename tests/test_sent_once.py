"""What the browser has, it is not sent again: a long script comes by itself, and its data calls it when it is there."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.ui.components import loading
from tests.scripts import run_node

APP = str(Path(__file__).parents[1] / "app.py")
KEPT = 10_000  # bytes from which on Streamlit names what a browser has, if it is the same to the last bit
CALL = """
const calls = {calls}, comes = {comes};
const load = (text) => import("data:text/javascript," + encodeURIComponent(text));
const own = [];
if ({early}) await load(comes);
const {{ default: call }} = await load(calls);
const waiting = [call({{ data: 20 }}), call({{ data: 21 }})];
own.push({early} ? "asked" : "waits");
const {{ default: nothing }} = await load(comes);
own.push(typeof nothing(), ...(await Promise.all(waiting)).map((end) => end()), await (await call({{ data: 1 }}))());
console.log(JSON.stringify(own));
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """What Streamlit is given, by its name, of a component whose script is long, or is not."""
    given = {}
    monkeypatch.setattr(loading, "FOLDER", tmp_path)
    monkeypatch.setattr(loading.v2, "component", lambda name, **parts: given.setdefault(name, parts))
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "index.html").write_text("<p></p>", encoding="utf-8")
    (tmp_path / "trial" / "index.css").write_text("p { margin: 0; }", encoding="utf-8")

    def load(length, isolated=True):
        script = "export default function ({ data }) {\n  return () => 2 * data;\n}\n" + "//\n" * (length // 3)
        (tmp_path / "trial" / "index.js").write_text(script, encoding="utf-8")
        loading.load_component("trial", isolated=isolated)
        return given

    return load


@pytest.mark.parametrize("early", [True, False])
def test_a_script_that_comes_by_itself_is_called_with_all_that_was_given(load, early):
    parts = load(KEPT)
    calls, comes = (json.dumps(parts[name]["js"]) for name in ("bertviz.trial", "bertviz.trial.script"))
    said = json.loads(run_node(CALL.format(calls=calls, comes=comes, early=json.dumps(early))))
    assert said == ["asked" if early else "waits", "undefined", 40, 42, 2]


@pytest.mark.parametrize("isolated", [True, False])
def test_a_long_script_comes_by_itself_and_the_style_with_it_where_it_is_the_pages(load, isolated):
    parts = load(KEPT, isolated)
    drawn, script = parts["bertviz.trial"], parts["bertviz.trial.script"]
    assert drawn["html"] == "<p></p>" and "2 * data" not in drawn["js"] and "html" not in script
    assert "2 * data" in script["js"] and drawn["isolate_styles"] == isolated and not script["isolate_styles"]
    assert ("margin: 0" in drawn["css"], "margin: 0" in script["css"]) == (isolated, not isolated)


def test_a_short_script_stays_where_it_is(load):
    (drawn,) = load(KEPT // 2).values()
    assert "2 * data" in drawn["js"] and drawn["html"] == "<p></p>" and drawn["css"] == "p { margin: 0; }"


@pytest.mark.parametrize(("page", "most"), [("overview", 160_000), ("attention", 15_000), ("heads", 60_000)])
def test_another_layer_sends_of_components_what_is_another(page, most):
    """most: bytes, of which those of the canvas are nearly all numbers."""
    sent = []
    for layer in ("1", "3"):
        at = AppTest.from_file(APP, default_timeout=60)
        at.query_params.update({"layer": layer})
        at.run()
        at.switch_page(f"pages/{page}.py").run()
        assert not at.exception
        sent.append({one.proto.SerializeToString(deterministic=True) for one in at.get("bidi_component")})
    assert any(len(one) >= KEPT for one in sent[0] & sent[1])
    assert sum(map(len, sent[1] - sent[0])) < most
