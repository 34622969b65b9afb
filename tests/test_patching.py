"""Patching: identities bit for bit, cells of every grid against the same patch by hooks in Hugging Face's model."""

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.analysis import patching
from bertviz_core.formula.address import Address, parse, read_address
from bertviz_core.tracing import planning
from bertviz_core.tracing.changes import make_overrides
from bertviz_core.tracing.matching import match_tokens, read_pairs, write_pairs
from bertviz_core.tracing.rewrites import Rule
from bertviz_core.tracing.stacked import _put as put
from bertviz_core.tracing.stacked import run_stacked
from bertviz_core.tracing.taken import Taken
from tests.factory import random_checkpoint

A, B = "The cat sat on a mat.", "The mat sat on a cat."
LONGER = "Do the cat as the mat sat in Rome."
LAYERS, HEADS, WIDTH = 3, 3, 8
LOGITS = "cls.predictions.decoder"
NORM = "encoder.layer.1.output.LayerNorm"
TOKEN = 3
MEASURES = {
    "logit": f"{LOGITS}[token={TOKEN},vocab=9]",
    "difference": (f"{LOGITS}[token={TOKEN},vocab=9]", f"{LOGITS}[token={TOKEN},vocab=30]"),
    "probability": f"cls.predictions.probs[token={TOKEN},vocab=9]",
    "next sentence": "cls.seq_relationship[relation=1]",
}
MODULES = {
    "residual": lambda row: (
        "bert.embeddings.LayerNorm" if row == 0 else f"bert.encoder.layer.{row - 1}.output.LayerNorm"
    ),
    "attention": "bert.encoder.layer.{}.attention.output.dense".format,
    "feed-forward": "bert.encoder.layer.{}.output.dense".format,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("patching"), num_hidden_layers=LAYERS)


@pytest.fixture(scope="module")
def model(folder):
    return bv.load_model(folder, dtype=torch.float64)


@pytest.fixture(scope="module")
def passes(model):
    return bv.run(model, A), bv.run(model, B)


class Hooked:
    """Hugging Face's model: what its modules gave in one pass, put into another by hooks."""

    def __init__(self, folder):
        self.hf = BertForPreTraining.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()

    @torch.inference_mode()
    def run(self, trace, hooks=()):
        handles = [add(self.hf) for add in hooks]
        row = trace.encoding
        out = self.hf(torch.tensor([row.ids]), torch.tensor([row.mask]), torch.tensor([row.segments]))
        for handle in handles:
            handle.remove()
        return out

    def record(self, trace, path, given=False):
        seen = []

        def keep(_, inside, out):
            seen.append((inside[0] if given else out).clone())

        self.run(trace, [lambda hf: hf.get_submodule(path).register_forward_hook(keep)])
        return seen[0]

    def put(self, path, numbers, here, there):
        def new(_, __, out):
            out = out.clone()
            out[0, here] = numbers[0, there]
            return out

        return lambda hf: hf.get_submodule(path).register_forward_hook(new)

    def put_head(self, path, numbers, head, pairs):
        cut = slice(head * WIDTH, (head + 1) * WIDTH)

        def new(_, given):
            merged = given[0].clone()
            for here, there in pairs:
                merged[0, here, cut] = numbers[0, there, cut]
            return (merged,)

        return lambda hf: hf.get_submodule(path).register_forward_pre_hook(new)

    def patched(self, source, target, grid, row, column, pairs):
        if grid == "heads":
            path = MODULES["attention"](row)
            return self.run(target, [self.put_head(path, self.record(source, path, given=True), column, pairs)])
        path, there = MODULES[grid](row), dict(pairs)[column]
        return self.run(target, [self.put(path, self.record(source, path), column, there)])


def read(out, name):
    logits = out.prediction_logits[0, TOKEN]
    return {
        "logit": logits[9],
        "difference": logits[9] - logits[30],
        "probability": torch.softmax(logits, -1)[9],
        "next sentence": out.seq_relationship_logits[0, 1],
    }[name].item()


@pytest.fixture(scope="module")
def hooked(folder):
    return Hooked(folder)


def last(work):
    *_, (done, found) = work
    assert done == 1
    return found


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    ("text", "turned"),
    [(A, False), (A, True), (LONGER, False)],
    ids=["by place", "the other direction", "by equal pieces"],
)
def test_every_cell_of_every_grid_equals_the_patch_by_hooks(model, passes, hooked, text, turned, name):
    source, target = bv.run(model, text), passes[1]
    if turned:
        source, target = target, source
    pairs = match_tokens(target, source, by_place=True)
    found = last(patching.patch_each(source, target, pairs, patching.read_measure(MEASURES[name])))
    assert found.source == pytest.approx(read(hooked.run(source), name), abs=1e-10)
    assert found.target == pytest.approx(read(hooked.run(target), name), abs=1e-10)
    matched = {here for here, _ in pairs}
    for grid in patching.GRIDS:
        values = found.grids[grid].values
        assert values.shape == (LAYERS + (grid == "residual"), HEADS if grid == "heads" else len(target.tokens))
        for row, column in np.ndindex(values.shape):
            if grid != "heads" and column not in matched:
                assert np.isnan(values[row, column])
            elif (row + column) % 3 == 0:
                theirs = read(hooked.patched(source, target, grid, row, column, pairs), name)
                assert values[row, column] == pytest.approx(theirs, abs=1e-10), (grid, row, column)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_cell_of_a_grid_is_what_the_change_gives_that_a_click_puts_on(folder, dtype):
    model = bv.load_model(folder, dtype=dtype)
    source, target = bv.run(model, LONGER), bv.run(model, B)
    pairs = match_tokens(target, source)
    measure = patching.read_measure(MEASURES["difference"])
    found = last(patching.patch_each(source, target, pairs, measure))
    for grid, row, column in (("residual", 1, pairs[1][0]), ("attention", 0, pairs[2][0]), ("heads", 1, 2)):
        where, rule = patching.place_patch(target, grid, row, column)
        changed = target.with_changes({where: patching.take(source, pairs, rule)})
        tolerance = 1e-5 if dtype == torch.float32 else 1e-12
        assert measure.read(changed) == pytest.approx(float(found.grids[grid].values[row, column]), abs=tolerance)


@pytest.mark.parametrize("address", ["embeddings.LayerNorm", "encoder.layer.1.output.LayerNorm", "embeddings.sum"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_everything_of_a_into_b_gives_a_bit_for_bit(folder, dtype, address):
    model = bv.load_model(folder, dtype=dtype)
    source, target = bv.run(model, A), bv.run(model, B)
    found = bv.patch(source, target, address, MEASURES["logit"])
    above = source.program.reached([address])
    assert len(above) > 30 and found.value == found.source != found.target and found.moved == 1
    for each in above:
        np.testing.assert_array_equal(found.trace[each], source[each], err_msg=each)


def test_a_patch_from_itself_changes_nothing_bit_for_bit(passes):
    _, target = passes
    every = [each for each in target.addresses if each.startswith(("embeddings.", "encoder.layer.1."))]
    found = bv.patch(target, target, every, MEASURES["logit"])
    assert found.trace.computed and found.value == found.target
    for each in target.addresses:
        np.testing.assert_array_equal(found.trace[each], target[each], err_msg=each)


def test_nothing_below_the_patch_changes_and_only_what_lies_above_it_is_run(passes):
    source, target = passes
    address = "encoder.layer.1.attention.output.dense[token=2]"
    changed = bv.patch(source, target, address, MEASURES["logit"]).trace
    above = target.program.reached([address.partition("[")[0]])
    assert set(changed.computed) <= above
    for each in set(target.addresses) - above:
        np.testing.assert_array_equal(changed[each], target[each], err_msg=each)
    np.testing.assert_array_equal(changed[address], source[address])


def test_addresses_can_be_given_in_pairs_and_a_cell_alone(passes):
    source, target = passes
    here, there = "encoder.layer.0.output.LayerNorm[token=2]", "encoder.layer.0.output.LayerNorm[token=5]"
    changed = bv.patch(source, target, {here: there}, MEASURES["logit"]).trace
    np.testing.assert_array_equal(changed[here], source[there])
    cell = f"{here[:-1]},hidden=4]"
    changed = bv.patch(source, target, [cell], MEASURES["logit"]).trace
    assert changed[cell] == source[cell] != target[cell]
    assert (changed[here] != target[here]).sum() == 1


def test_where_lengths_differ_equal_pieces_are_matched_in_order(model, passes):
    target, source = passes[1], bv.run(model, LONGER)
    pairs = match_tokens(target, source)
    assert all(target.tokens[here] == source.tokens[there] for here, there in pairs)
    assert [*zip(*pairs, strict=True)] == [tuple(sorted(side)) for side in zip(*pairs, strict=True)]
    assert read_pairs(write_pairs(pairs), target, source) == pairs
    alone = next(i for i in range(len(target.tokens)) if i not in dict(pairs))
    found = bv.patch(source, target, "encoder.layer.0.output.LayerNorm", MEASURES["logit"]).trace
    row = "encoder.layer.0.output.LayerNorm[token={}]".format
    np.testing.assert_array_equal(found[row(alone)], target[row(alone)])
    for here, there in pairs:
        np.testing.assert_array_equal(found[row(here)], source[row(there)])


def test_what_the_passes_before_changed_stays_changed_in_a_stack(passes):
    source, target = passes
    changes = {"encoder.layer.1.attention.self.probs[head=1]": 0.0, "encoder.layer.2.output.dense[token=1]": 0.5}
    changed = target.with_changes(changes)
    where, rule = patching.place_patch(changed, "residual", 1, 2)
    pairs = match_tokens(changed, source, by_place=True)
    cell = patching.read_measure(MEASURES["logit"])
    puts = patching.make_overrides(changed.layout, changed.encoding, where, patching.take(source, pairs, rule))
    stacked = run_stacked(changed, where.path, [puts, ()], cell.cells)
    both = changed.with_changes({where: patching.take(source, pairs, rule)})
    np.testing.assert_allclose(stacked[:, 0], [cell.read(both), cell.read(changed)], rtol=0, atol=1e-12)


def test_a_stack_takes_no_more_threads_than_the_pass_that_it_varies(passes, monkeypatch):
    trace, seen = passes[1], []
    monkeypatch.setattr(
        "bertviz_core.tracing.stacked._put", lambda *given: seen.append(torch.get_num_threads()) or put(*given)
    )
    puts = patching.make_overrides(trace.layout, trace.encoding, read_address(f"{NORM}[token=5]"), 0.5)
    monkeypatch.setattr(trace, "threads", more := torch.get_num_threads() + 1)
    run_stacked(trace, NORM, [puts], [Address("cls.seq_relationship").fix(relation=0)])
    assert seen[-1] == more == torch.get_num_threads() + 1


@pytest.mark.parametrize("put", ["decoder[token=5,vocab=7]", "decoder", "probs[token=5,vocab=7]"])
def test_numbers_put_into_the_answers_stay_there_in_a_stack(passes, put):
    changed = passes[1].with_changes({f"cls.predictions.{put}": 0.25})
    cells = [Address("cls.predictions.probs").fix(token=5, vocab=i) for i in (7, 9)]
    where = "encoder.layer.1.output.LayerNorm[token=5]"
    puts = patching.make_overrides(changed.layout, changed.encoding, read_address(where), 0.5)
    both = changed.with_changes({where: 0.5})
    found = run_stacked(changed, read_address(where).path, [puts, ()], cells)
    np.testing.assert_allclose(found, [[float(one[cell]) for cell in cells] for one in (both, changed)], atol=1e-12)
    assert put == "decoder" or (found[0] != found[1]).any()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"encoder.layer.0.output.LayerNorm[token=2]": "from=99"}, "tokens 0 to"),
        ({"encoder.layer.0.output.LayerNorm": "from=3"}, "names one token"),
        ({"encoder.layer.0.output.LayerNorm": "from=head1"}, "head's output"),
        ({"encoder.layer.0.attention.self.context": "from=head9"}, "heads 0 to 2"),
        ({"encoder.layer.0.attention.self.context": "from=head"}, "Write for example"),
        ({"encoder.layer.0.attention.self.probs": "from"}, "a number for each two tokens"),
        ({"input_ids[token=2]": "from"}, "is an input"),
        ({"encoder.layer.0.output.LayerNorm[token=1]": "from"}, "unmatched tokens are not patched"),
    ],
)
def test_a_patch_that_cannot_be_made_is_refused_in_words(model, passes, change, said):
    source, target = bv.run(model, "Rome do as"), passes[1]
    pairs = tuple(pair for pair in match_tokens(target, source) if pair[0] != 1)
    given = patching.give_source({where: Rule(rule) for where, rule in change.items()}, source, pairs)
    with pytest.raises(bv.InputError, match=said):
        target.with_changes(given)


def test_without_another_pass_from_says_so(passes):
    with pytest.raises(bv.InputError, match="Choose what to compare with"):
        passes[0].with_changes({"encoder.layer.0.output.LayerNorm": "from"})


def test_models_of_other_sizes_and_texts_without_a_common_token_are_refused(tmp_path, passes):
    other = bv.run(bv.load_model(random_checkpoint(tmp_path, num_hidden_layers=2), dtype=torch.float64), A)
    measure = patching.read_measure(MEASURES["logit"])
    with pytest.raises(bv.InputError, match="3 and 2 layers"):
        next(patching.patch_each(other, passes[1], ((0, 0),), measure))
    with pytest.raises(bv.InputError, match="no token in common"):
        next(patching.patch_each(*passes, (), measure))
    with pytest.raises(bv.ArgumentError):
        bv.patch("A", passes[1], "embeddings.sum", MEASURES["logit"])
    with pytest.raises(bv.AddressError):
        bv.patch(*passes, "embeddings.sum", "cls.nothing[token=1]")
    with pytest.raises(bv.InputError, match="no address was given"):
        bv.patch(*passes, [], MEASURES["logit"])


def test_where_both_passes_measure_the_same_there_is_no_way_to_go(passes):
    found = bv.patch(passes[1], passes[1], "embeddings.sum", MEASURES["logit"])
    assert np.isnan(found.moved)


def test_of_a_way_that_is_next_to_none_no_part_is_told():
    assert np.isnan(patching.measure_moved(1.5, 1.009, 1.0))
    assert patching.measure_moved(1.005, 1.02, 1.0) == pytest.approx(0.25)


def test_what_a_long_text_puts_is_made_part_by_part(passes, monkeypatch):
    made = []
    monkeypatch.setattr(patching, "make_overrides", lambda *given: made.append(given) or make_overrides(*given))
    pairs = tuple((i, i) for i in range(len(passes[1].tokens)))
    work = patching.patch_each(*passes, pairs, patching.read_measure(MEASURES["logit"]))
    parts = []
    for _ in work:
        parts.append(len(made))
        made.clear()
    heads = passes[1].model.config.num_attention_heads
    assert max(parts) <= max(heads, len(pairs)) and sum(parts) == (LAYERS * 3 + 1) * len(pairs) + LAYERS * heads


def test_rows_that_a_list_takes_have_a_bound_before_they_are_read(monkeypatch, rome):
    """Each is read and put by itself; a list of too many is refused at once."""
    monkeypatch.setattr(planning, "MOST_ROWS", 30)
    read = []
    monkeypatch.setattr(planning, "make_overrides", lambda *given: read.append(given) or [])
    pairs = tuple((i, i) for i in range(1, 12))
    asked = {parse(f"encoder.layer.{i}.output.dense[hidden=0]"): Taken(Rule("from"), pairs, (), rome) for i in range(6)}
    good, wrong = planning.check_changes(rome.layout, rome.encoding, asked)
    assert len(good) == len(read) == 2 and len(wrong) == 4
    assert all("30 rows from another pass, and these are 33" in each for each in wrong.values())
