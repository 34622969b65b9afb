"""What is wrong with a sentence however true it is: words glued together, blanks that are two, a plural of one."""

import re

_QUOTED = re.compile("“[^”]*”")  # other people's words, with any signs
_CODE = re.compile(r"`[^`]*`|\$\$.*?\$\$|\$[^$]*\$")
_THINGS = "(?:token|word|layer|head|neuron|component|number|piece|pair|product|key|value|stage|step)"
_COUNTED = {
    "one of many": re.compile(rf"(?<![\d.,·])(?<!layer )(?<!head )\b1 {_THINGS}s\b"),
    "many of one": re.compile(rf"(?<![\d.,])(?<!layer )(?<!head )\b[2-9] {_THINGS}\b(?!-)"),
    "one of some are": re.compile(r"(?<![\d.,])\b1 of [\d,]+ \w+s (?:are|have|tie)\b|\bother 1 together\b"),
}
_WRITTEN = {
    "a word stands against quotation marks": re.compile(r"\w“|”\w"),
    "two blanks": re.compile(r"\S  +\S"),
    "a blank before a sign": re.compile(r"[\w”)%] [,.;:!?](?!\S)"),
    "no blank behind a sign": re.compile(r"[a-z”)%][,;:!?][A-Za-z“]"),
    "two signs": re.compile(r"[,;:][,.;:]|(?<!\.)\.\.(?!\.)"),
    "no value": re.compile(r"\b(?:is|to|of|by|with|at|than|from|and|layer|head|component|position) None\b|[{}]"),
}


def find_slips(text):
    """What is wrong with the wording of a text, Markdown as a page shows it."""
    return _find(text, {**_COUNTED, **_WRITTEN})


def find_miscounts(text):
    """The plurals of one and singulars of many in a text, also one that is only a part of a line."""
    return _find(text, _COUNTED)


def _find(text, faults):
    plain = text.replace("\\", "").replace("**", "").replace("\N{NO-BREAK SPACE}", " ")
    plain = _QUOTED.sub("“x”", _CODE.sub("x", plain))
    return [f"{name}: {found[0]!r} in {text!r}" for name, form in faults.items() if (found := form.search(plain))]
