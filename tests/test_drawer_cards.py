"""What the drawer says of a number, for every step of every program: true, complete, and adding up."""

import itertools
import random
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.naming import NOUNS, find_noun, name_crumb, name_number
from bertviz_core.formula.address import Address, read_address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.texts import name_token
from bertviz_core.programs import PROGRAMS
from bertviz_core.ui.walk.card import Cell, Row, Table, render_table
from bertviz_core.ui.walk.explain import work_out
from bertviz_core.ui.walk.rendering import _render_line, render_head
from bertviz_core.ui.walk.templates.choosing import explain_number
from bertviz_core.ui.walk.templates.reads import explain_end
from bertviz_core.ui.walk.templates.share import tell_share
from tests.canvas import look
from tests.derived.reading import find_numbers
from tests.factory import random_checkpoint
from tests.often import one_in, together
from tests.test_explain import random_cell

LAYER = "encoder.layer.2"
STEPS = re.compile(r'data-step="([^"]*)"')
ADDING = (
    "product",
    "part",
    "part of the mean",
    "part of the variance",
)  # columns whose numbers are the parts of the number
CHANGES = (
    {},
    {f"{LAYER}.attention.self.probs[head=0]": 0.0},
    {f"{LAYER}.attention.self.scores[head=1,query=8,key=3]": 3.0},
    {"embeddings.sum": 0.0},
    {f"{LAYER}.intermediate.activation": "relu"},
    {f"{LAYER}.output.residual": "no-residual"},
)


def explain(trace, address):
    view = look(trace)
    shown = work_out(view, address)
    return view, shown, explain_number(view, shown.why, shown.found)


def sample(trace, seed, count=1):
    chance = random.Random(seed)
    return [random_cell(trace, path, chance) for path in trace.addresses for _ in range(count)]


@pytest.fixture(scope="module", params=together("cards", PROGRAMS, list(PROGRAMS)[::2]))
def trace(request, bundled):
    return bv.run(bundled, "When in Rome, do as the [MASK] do.", program=request.param)


@pytest.fixture(scope="module")
def explained(trace):
    """A number of every step, with its view and its card."""
    return [(address, *explain(trace, address)) for address in sample(trace, 1)]


def test_every_number_has_a_name_a_sentence_and_what_it_was_made_from(explained):
    for address, _, shown, card in explained:
        assert find_noun(shown.why.cell.path).title in NOUNS_AS_TITLES, address
        assert str(card.sentence) and card.table is not None and card.table.rows, address
        assert all(claim.holds for claim in card.sentence.claims), (address, str(card.sentence))
        widths = {len(row.cells) for row in (*card.table.rows, *card.table.ends)}
        assert widths == {len(card.table.columns)}, address


NOUNS_AS_TITLES = {noun.title for noun in NOUNS.values()}


def read(text):
    return find_numbers(text)[0].value


def add_up(table):
    rows = [row for row in (*table.rows, *table.ends) if not row.lead]
    numbers = [row.cells[-1].text for row in rows if row.cells[-1].text not in ("", "adds 0")]
    return sum(map(read, numbers)), len(rows)


def test_the_last_column_of_a_table_adds_up(explained):
    for address, _, shown, card in explained:
        why = shown.why
        if card.table.columns[-1] not in ADDING or not card.table.heading.startswith("Made from"):
            continue
        total, rows = add_up(card.table)
        assert abs(total - why.recomputed) <= 6e-5 * (rows + 1) * max(1.0, abs(why.recomputed)), (address, total)


def test_every_operand_that_is_listed_has_its_recorded_number(trace, explained):
    for address, _, _, card in explained:
        for row in card.table.rows:
            for cell in row.cells:
                if cell.step and re.fullmatch(r"−?\d[\d.,]*(e[+−]\d+)?", cell.text):
                    value = trace[cell.step].item()
                    number = str(value) if isinstance(value, int) else format_number(value)  # an id has no commas
                    assert cell.text in (number, *_places(cell.step)), (address, cell)


def _places(where):
    """How the index of a row may be written: also a number."""
    return {str(i) for _, i in where.index} | {f"{i:,}" for _, i in where.index}


def test_each_operand_of_a_small_sum_can_be_walked_to(rome):
    for address in sample(rome, 4):
        _, shown, card = explain(rome, address)
        if shown.why.count <= 3:
            steps = {unescape(step) for step in STEPS.findall(render_table(card.table))}
            assert steps >= {name for name, _ in shown.why.operands}, address


@pytest.mark.parametrize("changes", one_in(2, CHANGES))
def test_the_sentence_holds_after_a_change_too(rome, changes):
    trace = rome.with_changes(changes) if changes else rome
    for address in sample(trace, 5, 2):
        _, _, card = explain(trace, address)
        assert all(claim.holds for claim in card.sentence.claims), (address, str(card.sentence))
        assert not re.search(r"\bnan\b|∞", str(card.sentence)), (address, str(card.sentence))


@pytest.mark.parametrize(
    "kind", ["base-without-pooler", "sequence-classification", "token-classification", "question-answering"]
)
def test_a_checkpoint_of_any_kind_is_explained(tmp_path, kind):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, kind=kind, seed=3)), "the cat sat on the mat")
    for address in sample(trace, 6):
        _, shown, card = explain(trace, address)
        assert name_number(trace, shown.why.cell) and name_crumb(trace, shown.why.cell)
        assert card.table.rows and all(claim.holds for claim in card.sentence.claims), address


def test_who_gives_how_much_to_whom(rome):
    weights = rome[f"{LAYER}.attention.self.probs[head=0,query=8]"].astype(np.float64)
    first, second = np.argsort(-weights)[:2]
    said = tell(rome, f"{LAYER}.attention.self.probs[head=0,query=8,key={first}]")
    most, next_most = (name_token(rome.tokens, int(key)) for key in (first, second))
    assert f"“[MASK]” gives {100 * weights[first]:.0f} % of its attention to {most}" in said
    assert said.endswith(f", {weights[first] / weights[second]:.1f} times as much as to {next_most}.")
    said = tell(rome, f"{LAYER}.attention.self.probs[head=0,query=8,key={second}]")
    assert said.endswith(f". The largest is to {most}, {100 * weights[first]:.0f} %.")


def tell(trace, address):
    return str(explain(trace, address)[2].sentence).replace("\N{NO-BREAK SPACE}", " ").replace("**", "")


def test_a_share_that_is_all_there_is_or_one_of_equals(rome):
    why = rome.explain(f"{LAYER}.attention.self.probs[head=0,query=8,key=5]")
    alone = str(tell_share(rome, why, np.eye(12)[5], "key"))
    assert alone.endswith(": all of it.")
    equal = str(tell_share(rome, why, np.full(12, 1 / 12), "key"))
    assert "times" not in equal and "largest" not in equal and "Beside it: to" in equal


def test_how_many_terms_raise_a_number(rome):
    cell = f"{LAYER}.attention.self.query[head=0,query=8,head_dim=30]"
    x = rome["encoder.layer.1.output.LayerNorm[token=8]"].astype(np.float64)
    terms = x * rome[f"{LAYER}.attention.self.query.weight[concat=30]"]
    row = np.abs(rome[f"{LAYER}.attention.self.query[head=0,query=8]"])
    said = tell(rome, cell)
    assert said.startswith("One of 32 numbers that say what “[MASK]” asks in head 0 of layer 2: ")
    assert f"{(terms > 0).sum()} products raise it, {(terms < 0).sum()} lower it." in said
    assert said.endswith(f" It is the {(row > row[30]).sum() + 1}th largest in size of 32.")


def test_how_far_a_number_lies_from_the_mean(rome):
    x = rome["embeddings.sum[token=8]"].astype(np.float64)
    for i, side in ((267, "above"), (int(x.argmin()), "below")):
        far, told = abs(x[i] - x.mean()) / x.std(), tell(rome, f"embeddings.LayerNorm[token=8,hidden={i}]")
        assert f"it lies {far:.2f} standard deviations {side} the mean of its 384" in told


def test_a_score_shows_the_products_that_it_comes_from(rome):
    _, shown, card = explain(rome, f"{LAYER}.attention.self.scores[head=0,query=8,key=5]")
    assert card.table.heading == "The dot product is 32 products, largest first"
    total, _ = add_up(card.table)
    product = rome[f"{LAYER}.attention.self.products[head=0,query=8,key=5]"].item()
    assert total == pytest.approx(product, abs=1e-3)
    steps = STEPS.findall(render_table(card.table))
    assert {name for name, _ in shown.why.operands} <= set(map(unescape, steps))


def test_a_number_has_its_place_among_those_beside_it(rome):
    scores = rome[f"{LAYER}.attention.self.scores[head=0,query=8]"]
    first, second = np.argsort(-scores)[:2]
    score = f"{LAYER}.attention.self.scores[head=0,query=8,key={{}}]"
    own = f"{LAYER}.attention.self"
    products = rome[f"{own}.query[head=0,query=8]"].astype(float) * rome[f"{own}.key[head=0,key={first}]"]
    assert tell(rome, score.format(first)).endswith(
        f"offers: 32 products, {(products > 0).sum()} for and {(products < 0).sum()} against. "
        "It is the best match of the 12."
    )
    assert tell(rome, score.format(second)).endswith(" It is the 2nd best match of 12.")
    logits = rome["cls.predictions.decoder[token=8]"]
    order = np.argsort(-logits)
    cell = "cls.predictions.decoder[token=8,vocab={}]"
    assert tell(rome, cell.format(order[0])).endswith(" No other of the 30,522 entries is higher.")
    assert tell(rome, cell.format(order[21])).endswith(" It is the 22nd highest of 30,522.")


def test_one_part_of_a_sentence_stands_out(explained):
    for address, _, _, card in explained:
        assert str(card.sentence).count("**") in (0, 2), (address, str(card.sentence))


def test_an_id_ends_the_walk_with_the_way_that_led_there(rome):
    cells = ("embeddings.sum[token=8,hidden=267]", "embeddings.word_embeddings[token=8,hidden=267]")
    view = look(rome)
    shown = work_out(view, "input_ids[token=8]")
    card = explain_number(view, shown.why, shown.found, ((1, read_address(cells[0])), (4, read_address(cells[1]))))
    assert re.findall(r'<tr data-keep="(\d)"', card.more) == ["1", "4"]
    assert "it id **103**." in str(card.sentence) and "A walk back ends here." in str(card.sentence)
    assert "The way you came, 2 steps" in card.more and card.more.count("<tr data-keep") == 2
    assert [row.cells[1].text for row in card.table.rows if row.own] == ["[MASK]"]


def close(trace, address):
    """The cells of the row that stands for what is not listed, without those that are empty."""
    (row,) = explain(trace, address)[2].table.ends
    return [cell.text.replace("\N{NO-BREAK SPACE}", " ") for cell in row.cells if cell.text]


def test_what_is_not_listed_is_counted_in_words_and_added_up_by_itself(bundled):
    """All padding has a weight of exactly 0, and so do others of it together, however the rest adds up."""
    eleven = bv.run(bundled, "The [MASK] of [MASK] is a [MASK] city.")
    assert len(eleven.tokens) == 11
    assert close(eleven, "encoder.layer.0.attention.self.context[token=2,concat=190]")[0] == "1 other"
    padded = bv.run(bundled, "The cat sat on the mat.", pad_to=16)
    for layer, head in itertools.product(range(6), range(12)):
        weight = f"encoder.layer.{layer}.attention.self.probs[head={head},query=2,key=0]"
        assert close(padded, weight) == ["6 others", "0", "0 %"]


def test_a_small_share_takes_the_place_of_the_last_that_would_be_listed(rome):
    order = np.argsort(-rome["cls.predictions.probs"][8], kind="stable")
    largest, small = (explain(rome, f"cls.predictions.probs[token=8,vocab={i}]")[2].table.rows for i in order[[0, 99]])
    assert [row.own for row in largest].index(True) == 0 and small[-1].own
    assert [row.cells[0] for row in small[:-1]] == [row.cells[0] for row in largest[:-1]]


def test_of_a_hidden_token_the_drawer_says_what_the_tokenizer_made(bundled):
    """The id of [MASK] is none that the tokenizer made of the word; of a [MASK] that was typed it is."""
    typed, hidden = (bv.run(bundled, "The doctor said that she was [MASK].", masked=at) for at in ((), (2,)))
    view = replace(look(hidden), typed=typed.encoding)
    said = [str(explain_end(view, hidden.explain(f"input_ids[token={i}]"), ()).sentence) for i in range(9)]
    doctor = typed.encoding.ids[2]
    assert said[2].startswith(f"“[MASK]” at position 2: it hides “doctor”, id {doctor}; ")
    assert "given id **103** instead" in said[2] and "tokenizer" not in said[2]
    assert "“[MASK]” at position 7: the tokenizer made it id **103**." in said[7] and "it id **2056**" in said[3]


@pytest.mark.parametrize("count", range(13))
def test_as_many_rows_are_offered_as_are_kept_back(count):
    html = render_table(Table("Made from", ("x", "part"), [Row((Cell(str(i)), Cell("1")), 1.0) for i in range(count)]))
    kept = html.count("bv-late")
    assert re.findall(r"(\d+) more rows", html) == ([str(kept)] if kept else [])


def test_a_bar_is_as_long_as_its_part_is_large_on_either_side_of_0():
    amounts = [0.5, -2.0, 0.0, 1.0, -1.0]
    rows = [Row((Cell("x"), Cell(str(x))), x) for x in amounts]
    bars = re.findall(r'<i class="(.*?)" style="width:(\d+)px">', render_table(Table("Made from", ("x", "part"), rows)))
    assert [look for look, _ in bars] == ["bv-minus" if x < 0 else "" for x in amounts]
    assert [int(wide) for _, wide in bars] == [max(1, round(abs(x) / 2 * int(bars[1][1]))) for x in amounts]


def test_a_parameter_tells_how_many_of_its_table_are_smaller(rome):
    cell = Address(f"{LAYER}.intermediate.dense.weight").fix(hidden=5, intermediate=7)
    table = np.abs(rome[cell.whole])
    share = (table < abs(rome[cell])).mean()
    assert f"In size it is above {100 * share:.0f} % of the {table.size:,} in its table." in tell(rome, cell)
    gamma = Address(f"{LAYER}.output.LayerNorm.weight")
    least = gamma.fix(hidden=int(np.abs(rome[gamma]).argmin()))
    assert f"In size it is the smallest of the {rome[gamma].size} in its table." in tell(rome, least)


def test_a_number_that_somebody_set_says_so(rome):
    cell = f"{LAYER}.output.residual[token=8,hidden=3]"
    said = tell(rome.with_changes({cell: 2.0}), cell)
    assert said == "Set by a what-if change; it replaces what the step computes. A walk back ends here."


def test_a_number_that_somebody_set_says_what_it_was_in_place_of_its_formula(rome):
    cell = f"{LAYER}.output.residual[token=8,hidden=3]"
    changed = rome.with_changes({cell: 2.0})
    view, shown, card = explain(changed, cell)
    assert f"changed from <b>{format_number(rome[cell].item())}</b>" in _render_line(view, shown, card)
    for trace, where in ((rome, cell), (changed, f"{LAYER}.output.residual[token=8,hidden=4]")):
        assert "changed from" not in _render_line(*explain(trace, where))


def test_a_number_that_somebody_set_keeps_the_table_of_what_it_was_made_from(rome):
    cell = f"{LAYER}.attention.self.probs[head=0,query=8,key=5]"
    *_, old = explain(rome, cell)
    *_, card = explain(rome.with_changes({cell: 0.5}), cell)
    assert card.table.heading == "Without changes: made from 12 scores, largest first"
    assert card.table.rows == old.table.rows and card.table.ends == old.table.ends
    before = rome[cell].item()
    near = rome.with_changes({cell: before * (1 + 1e-6)})
    told = f"changed from <b>{format_number(before)}</b>, by {format_number(near[cell].item() - before)}"
    for trace, words in ((rome.with_changes({cell: before}), "as it was before"), (near, told)):
        assert f'<span class="bv-was">{words}</span>' in _render_line(*explain(trace, cell))


@pytest.mark.parametrize(("cell", "title", "crumb"), [
    (f"{LAYER}.attention.self.probs[head=0,query=8,key=5]", "Attention weight", "weight"),
    (f"{LAYER}.attention.self.query[head=0,query=8,head_dim=30]", "Query, component 30 of 32", "query"),
    (f"{LAYER}.attention.self.context[token=8,concat=40]", "Head output, component 8 of head 1", "head output"),
    (f"{LAYER}.intermediate.activation[token=8,intermediate=572]", "Neuron 572, the strongest of 1,536", "neuron 572"),
    (f"{LAYER}.intermediate.dense[token=8,intermediate=572]", "Pre-activation of neuron 572", "pre-activation"),
    ("cls.predictions.decoder[token=8,vocab=2111]", "Logit of “people”", "“people”"),
    ("cls.seq_relationship[relation=1]", "Logit: B is random", "logit"),
    ("input_ids[token=8]", "Token id", "token id"),
    (f"{LAYER}.attention.self.query.weight[hidden=3,concat=40]",
     "Weight, learned, component 3, concatenated component 40", "weight"),
    ("embeddings.LayerNorm.weight[hidden=3]", "Scale γ, component 3", "γ"),
])  # fmt: skip
def test_a_number_is_called_by_a_name_in_words(rome, cell, title, crumb):
    where = read_address(cell)
    assert (name_number(rome, where), name_crumb(rome, where)) == (title, crumb)


def test_the_head_says_that_it_was_worked_again(rome):
    view, shown, _ = explain(rome, f"{LAYER}.attention.self.probs[head=0,query=8,key=5]")
    head = render_head(view, shown, "")
    why = shown.why
    assert f"<b>{format_number(why.value)}</b>" in head and format_percent(why.value) in head
    assert f"Recorded: {format_number(why.value)}. Recomputed in double precision from 12 operands" in head
    assert "✓ worked again" in head


def test_a_gate_tells_how_much_of_a_number_below_0_it_lets_through(rome):
    """GELU is not shut at −0.5: what it leaves is told, not that it were nothing."""
    row = rome[f"{LAYER}.intermediate.dense[token=8]"]
    i = int(np.abs(row + 0.5).argmin())
    value = rome[f"{LAYER}.intermediate.activation[token=8,intermediate={i}]"].item()
    said = tell(rome, f"{LAYER}.intermediate.activation[token=8,intermediate={i}]")
    assert said.endswith(f"That is {100 * value / row[i]:.0f} % of it: the rest is held back.")


def test_where_a_gate_lets_nothing_through_there_is_no_rest(rome):
    relu = rome.with_changes({f"{LAYER}.intermediate.activation": "relu"})
    i = int((rome[f"{LAYER}.intermediate.dense[token=8]"] < -1).argmax())
    assert tell(relu, f"{LAYER}.intermediate.activation[token=8,intermediate={i}]").endswith(
        "That is 0 % of it: all of it is held back."
    )
