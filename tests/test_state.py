"""What a session remembers is named once: by a declared key, which knows its type; never by a text beside it."""

import ast
from collections import Counter

import pytest

from tests.test_imports import ROOT, modules

READERS = ("state", "url", "choices", "fields", "place", "follow")  # modules of the frame whose functions take keys


def parse_interface():
    """The modules that may touch a session, by their names."""
    return {
        name: ast.parse(file.read_text(encoding="utf-8"))
        for name, file in modules(ROOT).items()
        if ".ui." in name or name.startswith("pages") or name == "app"
    }


def list_declared(tree):
    """The names of the keys that a module declares."""
    return [call.args[0].value for call in ast.walk(tree) if is_declaration(call)]


def is_declaration(node):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Key"
        and is_text(node.args[0])
    )


def is_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def list_takers(trees):
    """The functions whose first parameter is a key, or a mapping of keys."""
    return {
        each.name
        for name, tree in trees.items()
        if name.split(".")[-1] in READERS
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef)
        and each.args.args
        and "Key[" in ast.unparse(each.args.args[0].annotation or ast.Constant(""))
    }


def list_texts(tree, takers, names):
    """Where a module names by a text what has a key: in a call of one of takers, or as the key of a widget."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        first = call.args[:1] if name in takers else []
        says = [key for each in first if isinstance(each, ast.Dict) for key in each.keys]
        widget = [each.value for each in call.keywords if each.arg == "key" and is_text(each.value)]
        found += [ast.unparse(text) for text in (*first, *says) if is_text(text)]
        found += [ast.unparse(text) for text in widget if getattr(text, "value", None) in names]
    return found


def list_declared_inside(tree):
    """The keys that are declared while something runs, and not where they can be found."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    return [name for each in functions for name in list_declared(each)]


def test_every_key_is_declared_once():
    names = Counter(name for tree in parse_interface().values() for name in list_declared(tree))
    assert len(names) > 60
    assert [name for name, count in names.items() if count > 1] == []
    assert [name for tree in parse_interface().values() for name in list_declared_inside(tree)] == []


def test_nothing_is_named_by_text_but_where_it_is_declared():
    trees = parse_interface()
    takers, names = list_takers(trees), {name for tree in trees.values() for name in list_declared(tree)}
    assert {"read", "write", "take", "find", "holds", "on_event", "bind", "choose", "go", "bind_field"} <= takers
    assert {name: found for name, tree in trees.items() if (found := list_texts(tree, takers, names))} == {}


def list_endless(tree):
    """The labels of fields that take a text of any length."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    fields = [call for call in calls if getattr(call.func, "attr", "") in ("text_input", "text_area")]
    return [
        ast.unparse(call.args[0])
        for call in fields
        if not {"max_chars", "disabled"} & {each.arg for each in call.keywords}
    ]


def test_no_field_takes_more_than_an_address_holds():
    assert list_endless(ast.parse('st.text_input("Find", key="find")')) == ["'Find'"]
    assert {name: found for name, tree in parse_interface().items() if (found := list_endless(tree))} == {}


@pytest.mark.parametrize(
    "source",
    [
        'state.read("layer")',
        'state.write(f"field-{row}", 1)',
        'choices.choose({"layer": "3"})',
        'bind_field("text", "a")',
        'st.text_input("Find", key="find")',
    ],
)
def test_a_text_is_found(source):
    assert list_texts(ast.parse(source), {"read", "write", "choose", "bind_field"}, {"find"})


def test_a_key_that_is_declared_in_a_function_is_found():
    assert list_declared_inside(ast.parse('def show():\n    return state.read(Key("here", 0))')) == ["here"]


def test_a_widget_of_its_own_may_have_a_text():
    source = 'st.button("Go", key="go-on")\nstate.read(_FIND)\nst.text_input("Find", key=_FIND.name)'
    assert list_texts(ast.parse(source), {"read"}, {"find"}) == []
