"""What the browser's scripts say beside right numbers, run without it: whose it is, smaller or larger."""

import json

import pytest

from tests.scripts import COMPONENTS, run_node

TOKENS = [{"text": text, "special": text[0] == "["} for text in ("[CLS]", "the", "cat", "[SEP]")]


def run(files, script):
    """What a script prints as JSON, behind numbers.js and these files."""
    parts = [(COMPONENTS / f"{name}.js").read_text(encoding="utf-8") for name in ("numbers", *files)]
    return json.loads(run_node("\n".join([*parts, f"console.log(JSON.stringify({script}));"])))


def test_a_weight_is_named_by_its_query_and_then_its_key():
    stage = {"layer": 2, "kind": "attention", "title": "Attention weight"}
    where = {"row": 1, "key": 2, "head": 3}
    said = run(["canvas_chrome"], f"nameCell({{ data: {{ tokens: {json.dumps(TOKENS)} }} }}, {json.dumps(stage)}, "
                                  f"{json.dumps(where)})")  # fmt: skip
    assert said == "Attention weight: layer 2, head 3, “the” on “cat”"


def test_what_is_not_drawn_is_the_share_of_special_tokens():
    said = run(["canvas_words"], "tellQuiet({ place: { layer: 4 }, stages: new Map([['ribbons.4', "
                                 "{ values: [0.5, 0.125, 0.125, 0.25] }]]), data: { tokens: "
                                 f"{json.dumps(TOKENS)} }} }})")  # fmt: skip
    assert said == "Without special tokens: 75\N{NO-BREAK SPACE}% of layer 4 is not drawn."


def test_the_three_largest_shares_of_a_token_are_told_the_largest_first():
    words = [{"index": i, "text": text} for i, text in enumerate("abcde")]
    data = {"query": words[:1], "key": words, "shares": [0.1, 0.4, 0.05, 0.3, 0.15], "hidden": [0]}
    said = run(["token_lines"], f"TokenLines.prototype.sentence.call({{ data: {json.dumps(data)}, share: "
                                "TokenLines.prototype.share }, 'query', 0)")  # fmt: skip
    assert said == "0 a attends most to 1 b 0.4000, 3 d 0.3000, 4 e 0.1500."


@pytest.mark.parametrize(("units", "words"), [([60, 20], "drawn 3.0 × smaller"), ([20, 60], "drawn 3.0 × larger"),
                                             ([20, 20], "drawn 1.0 × smaller")])  # fmt: skip
def test_on_the_next_scale_a_number_is_drawn_smaller_where_its_unit_is(units, words):
    script = f"""(() => {{
        const said = [];
        const sketch = {{ line: () => {{}}, text: (name, x, y, words) => said.push(words) }};
        globalThis.FAINT = "";
        Object.assign(globalThis, {{ measure: () => 0, fit: (words) => words, cut: (number) => number }});
        const scales = [(value) => -value * {units[0]}, (value) => -value * {units[1]}];
        drawScaleChange(sketch, {{
            x: (i) => i * 200, wide: 50, pitch: 200, units: {units}, scales, names: 0,
        }}, 1, 2, 1);
        return said;
    }})()"""
    assert run(["canvas_stops_steps"], script) == [words]


def test_a_link_of_the_story_has_the_colour_of_what_it_leads_to_and_the_width_of_the_share_it_leads_from():
    stops = [{"lane": 0, "color": color, "share": share} for color, share in (("red", 0.5), ("blue", 0.25), ("tan", 1))]
    script = f"""(() => {{
        globalThis.document = {{ createElementNS: () => ({{
            style: {{}}, parts: [], setAttribute() {{}}, append(part) {{ this.parts.push(part); }},
        }}) }};
        return drawLinks({json.dumps(stops)}).parts.map(({{ style }}) => [style.stroke, style.strokeWidth]);
    }})()"""
    assert run(["story_line"], script) == [["blue", "7px"], ["tan", "4.5px"]]


def test_the_words_that_are_named_are_none_of_the_others():
    worked = {
        "words": [["people", 9.5, 1.0, 0.5], ["others", 8.5, 0.5, 0.25]], "denominator": 2, "others": 0.25,
        "total": 30522, "digits": {"terms": 2, "total": 2},
        "logit": {"terms": [], "width": 384, "product": 9, "bias": 0.5, "value": 9.5, "adds_up": True,
                  "digits": {"terms": 2, "total": 2}},
    }  # fmt: skip
    script = f"""(() => {{
        const said = {{}};
        const nothing = () => {{}};
        const text = (name, x, y, words) => (said[name] = words);
        const sketch = {{ text, box: nothing, line: nothing, path: nothing }};
        const same = (each) => each;
        Object.assign(globalThis, {{ measure: () => 0, fit: same, cut: same, mix: same, within: () => 1 }});
        const canvas = {{ frame: {{ top: 50, row: 20, count: 10 }} }};
        drawAnswer(canvas, sketch, {{ x: 0, y: 0, w: 600, h: 300 }}, {json.dumps(worked)}, 1);
        return said["others name"];
    }})()"""
    files = ("canvas_stops", "canvas_stops_head", "canvas_stops_softmax", "canvas_stops_steps")
    assert run(files, script) == "30,520 others"
