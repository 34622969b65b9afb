"""Norms, cosines, principal components, the logit lens and attention rollout, each against a plain reference."""

import gc
import math
import re
import weakref
from base64 import b64decode
from itertools import pairwise

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis import layers
from bertviz_core.analysis.predictions import rank_words
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.steps import NORM, RESIDUAL
from bertviz_core.ui.views.layers_flow import _make_origin, show_rollout
from bertviz_core.ui.views.layers_ladder import _draw_lines
from bertviz_core.ui.views.layers_way import _draw_turn
from tests.canvas import look
from tests.factory import random_checkpoint

PROBS = "encoder.layer.{}.attention.self.probs"
RNG = np.random.default_rng(5)
STATES = RNG.normal(size=(4, 5, 7)) * 3 + 1  # (stage, token, hidden)
PAIR = ("The cat sat on the mat.", "Playing in Rome?")


@pytest.fixture(scope="module")
def double(tmp_path_factory):
    """A random pretraining checkpoint in float64: three layers, every size another one."""
    folder = random_checkpoint(tmp_path_factory.mktemp("layers"), num_hidden_layers=3, num_attention_heads=4)
    return bv.run(bv.load_model(folder, dtype=torch.float64), *PAIR)


def test_the_stages_are_what_each_layer_reads_and_the_last_one_hands_on(double):
    addresses = layers.list_stages(double)
    assert len(addresses) == 4 and addresses[0] == Address("embeddings.LayerNorm")
    for layer, address in enumerate(addresses[:-1]):
        read = {leaf.address for leaf in double.step(f"encoder.layer.{layer}.attention.self.query").leaves}
        assert address.path in read
    assert addresses[-1].path in {leaf.address for leaf in double.step("pooler.dense").leaves}
    states = layers.stack_vectors(double)
    assert states.shape == (4, len(double.tokens), 24) and states.dtype == np.float64
    np.testing.assert_array_equal(states[2], double["encoder.layer.1.output.LayerNorm"])


def test_norms_are_euclidean_lengths():
    found = layers.compute_norms(STATES)
    assert found.shape == (4, 5)
    for place in np.ndindex(4, 5):
        assert found[place] == pytest.approx(math.sqrt(math.fsum(x * x for x in STATES[place])), rel=1e-14)


def test_a_vector_that_is_only_stretched_has_not_turned():
    stretched = np.stack([STATES[0], 2.5 * STATES[0], -0.1 * STATES[0]])
    np.testing.assert_allclose(layers.compute_turns(stretched), [[1.0] * 5, [-1.0] * 5], atol=1e-12)


def test_cosines_are_dot_products_over_lengths():
    def cosine(a, b):
        return math.fsum(a * b) / math.sqrt(math.fsum(a * a) * math.fsum(b * b))

    turned, alike = layers.compute_turns(STATES), layers.compute_cosines(STATES[2])
    assert turned.shape == (3, 5) and alike.shape == (5, 5)
    for stage, token in np.ndindex(3, 5):
        assert turned[stage, token] == pytest.approx(cosine(STATES[stage, token], STATES[stage + 1, token]))
    for i, j in np.ndindex(5, 5):
        assert alike[i, j] == pytest.approx(cosine(STATES[2, i], STATES[2, j]))


def test_a_zero_vector_has_no_cosine():
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(layers.compute_cosines(rows), [[np.nan, np.nan], [np.nan, 1.0]])
    np.testing.assert_allclose(layers.compute_turns(np.stack([rows, rows])), [[np.nan, 1.0]])


@pytest.mark.parametrize("shape", [(4, 30, 7), (2, 3, 40)], ids=["more vectors than components", "fewer"])
def test_principal_components_are_the_eigenvectors_of_the_covariance(shape):
    states = RNG.normal(size=shape) @ np.diag(np.linspace(1, 3, shape[-1])) + 2
    found = layers.find_principal_components(states, 3)
    rows = states.reshape(-1, shape[-1])
    values, directions = np.linalg.eigh(np.cov(rows, rowvar=False))
    np.testing.assert_allclose(found.shares, values[::-1][:3] / values.sum(), rtol=1e-9)
    for k in range(3):
        np.testing.assert_allclose(abs(found.directions[k] @ directions[:, -1 - k]), 1, rtol=1e-9)
        assert found.directions[k][np.abs(found.directions[k]).argmax()] > 0
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(found.mean, rows.mean(axis=0))
    for stage, token in np.ndindex(*shape[:2]):
        offset = states[stage, token] - rows.mean(axis=0)
        np.testing.assert_allclose(found.points[stage, token], found.directions @ offset, atol=1e-10)


def test_all_components_together_are_the_whole_picture():
    found = layers.find_principal_components(STATES, 7)
    assert found.shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(found.mean + found.points @ found.directions, STATES, atol=1e-10)


def test_components_that_do_not_exist_are_zero():
    found = layers.find_principal_components(np.ones((2, 3, 2)), 3)
    assert found.points.shape == (2, 3, 3) and not found.points.any() and not found.shares.any()


def test_a_traces_projection_is_computed_once_and_kept_no_longer_than_the_trace(bundled):
    trace = bv.run(bundled, "Hello.")
    first = weakref.ref(layers.project_stages(trace))
    assert layers.project_stages(trace) is first()
    np.testing.assert_allclose(first().points, layers.find_principal_components(layers.stack_vectors(trace), 3).points)
    del trace
    gc.collect()
    assert first() is None


def test_the_lens_at_the_last_layer_is_the_traces_own_prediction(double, rome):
    for trace, tolerance in ((double, 1e-13), (rome, 1e-6)):
        for token in (0, 3, len(trace.tokens) - 1):
            lens = layers.Lens(trace, token)
            np.testing.assert_allclose(lens.probs[-1], trace[f"cls.predictions.probs[token={token}]"], atol=tolerance)


def test_the_lens_is_what_the_pass_gives_with_the_last_output_replaced(double):
    *earlier, last = layers.list_stages(double)
    token = 4
    lens = layers.Lens(double, token)
    for stage, address in enumerate(earlier):
        replaced = bv.run(double.model, *PAIR, changes={f"{last}[token={token}]": double[f"{address}[token={token}]"]})
        np.testing.assert_allclose(
            lens.probs[stage], replaced[f"cls.predictions.probs[token={token}]"], rtol=1e-10, atol=1e-14
        )


def test_the_lens_is_the_head_written_out(double):
    token, weights = 2, {name: tensor.numpy() for name, tensor in double.model.parameters.items()}
    head = "cls.predictions.transform"
    for stage, probs in enumerate(layers.Lens(double, token).probs):
        x = double[layers.list_stages(double)[stage]][token]
        x = x @ weights[f"{head}.dense.weight"] + weights[f"{head}.dense.bias"]
        x = x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2
        x = (x - x.mean()) / np.sqrt(x.var() + double.model.config.layer_norm_eps)
        x = x * weights[f"{head}.LayerNorm.weight"] + weights[f"{head}.LayerNorm.bias"]
        scores = x @ weights["cls.predictions.decoder.weight"] + weights["cls.predictions.decoder.bias"]
        powers = np.exp(scores - scores.max())
        np.testing.assert_allclose(probs, powers / powers.sum(), rtol=1e-9)


def test_the_lens_ranks_and_works_out_a_word(double):
    lens = layers.Lens(double, 5)
    order = np.argsort(-lens.probs, axis=1)
    for word in (0, 17, 100):
        assert lens.ranks(word).tolist() == [list(row).index(word) + 1 for row in order]
    best = int(order[1, 0])
    worked, gives = lens.worked(1, best)
    assert worked.startswith(r"\frac{e^{") and "101" in worked and gives == pytest.approx(lens.probs[1, best], rel=1e-5)


def test_first_choices_are_the_lens_own_best_entries_read_once(double):
    entries, shares = layers.read_first_choices(double, (5, 2))
    assert entries.shape == shares.shape == (2, len(layers.list_stages(double)))
    for row, token in enumerate((5, 2)):
        for stage, probs in enumerate(layers.Lens(double, token).probs.tolist()):
            assert shares[row, stage] == max(probs) == probs[entries[row, stage]]
    again, _ = layers.read_first_choices(double, range(2, 6))
    np.testing.assert_array_equal(again[[3, 0]], entries)


def test_every_stage_has_a_winner_and_a_place_for_the_last_one(double):
    for token in range(len(double.tokens)):
        found, probs = layers.list_winners(double, token), layers.Lens(double, token).probs.tolist()
        final = probs[-1].index(max(probs[-1]))
        assert [winner.layer for winner in found] == [None, 0, 1, 2]
        for winner, row in zip(found, probs, strict=True):
            assert winner.probability == max(row) == row[winner.id] and winner.final_probability == row[final]
            assert winner.final_rank == sorted(row, reverse=True).index(row[final]) + 1
            assert winner.word == (double.model.tokenizer.token(winner.id) or f"id {winner.id}")
        assert layers.list_winners(double, token) is found


def test_others_lead_before_the_bundled_models_answer(rome):
    found, answer = layers.list_winners(rome, 8), rank_words(rome, 8, 1)[0][0]
    assert found[-1].word == answer and found[0].word != answer
    assert [winner.final_rank == 1 for winner in found] == [winner.word == answer for winner in found]
    assert found[0].final_rank > 10


def test_without_a_head_nobody_wins(tmp_path):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, kind="base")), "the cat")
    assert layers.list_winners(trace, 1) == ()


def test_rollout_is_the_product_of_half_attention_and_half_identity():
    attention = RNG.dirichlet(np.ones(6), size=(3, 6))
    found = layers.roll_out(attention)
    expected = np.eye(6)
    for layer in range(3):
        step = np.zeros((6, 6))
        for i, j in np.ndindex(6, 6):
            step[i, j] = 0.5 * attention[layer, i, j] + 0.5 * (i == j)
        expected = np.array([[sum(step[i, k] * expected[k, j] for k in range(6)) for j in range(6)] for i in range(6)])
        np.testing.assert_allclose(found[layer], expected, rtol=1e-12)


def test_rollout_of_a_pass_divides_every_token_up(rome):
    found = layers.roll_out_attention(rome)
    assert layers.roll_out_attention(rome) is found
    count = len(rome.tokens)
    assert found.shape == (6, count, count)
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-6)
    assert (found >= 0).all()
    heads = rome["encoder.layer.0.attention.self.probs"]
    np.testing.assert_allclose(found[0], (sum(heads) / len(heads) + np.eye(count)) / 2, atol=1e-7)
    for before, after in pairwise(np.diagonal(found, axis1=1, axis2=2)):
        assert after.mean() < before.mean()  # layer by layer, less of a token comes from its own place


def test_the_roll_outs_card_says_where_rows_are_divided_by_their_sum(rome):
    for changes, divided in (({}, False), ({f"encoder.layer.{i}.attention.self.probs": 0.0 for i in range(6)}, True)):
        view = look(rome, rome.with_changes(changes) if changes else rome, token=4)
        found = layers.roll_out_attention(view.trace)
        card = _make_origin(view, found)
        assert ("so that they are no longer halves" in card.meaning) == divided == (r"\sum_v M" in card.formula)
        assert card.worked.endswith(f" = {found[-1, 4, 4]:.4f}")
        first = (float(view.trace[f"{PROBS.format(5)}[query=4,key=0]"].mean()) / 2) / (0.5 if divided else 1)
        assert rf"& {format_latex(first)}\cdot" in card.worked


def test_rows_that_do_not_sum_to_one_are_renormalized():
    attention = np.array([[[0.2, 0.2], [0.5, 0.5]]])
    np.testing.assert_allclose(layers.roll_out(attention)[0], [[0.6 / 0.7, 0.1 / 0.7], [0.25, 0.75]])


def test_a_row_that_cannot_be_divided_stays_and_the_card_says_so(rome):
    """The attention of token 4 in layer 2 is put where with its residual half it sums to 0, once but for rounding."""
    here, count = PROBS.format(2), len(rome.tokens)
    puts = {f"{here}[query=4]": 0.0, f"{here}[query=4,key=4]": -1.0}, {f"{here}[query=4]": -1 / count}
    for changes in puts:
        trace = rome.with_changes(changes)
        with np.errstate(all="raise"):
            found = layers.roll_out_attention(trace)
            shown = show_rollout.__wrapped__(look(rome, trace, token=4))
        row = (trace[here].mean(axis=0)[4] + np.eye(count)[4]) / 2
        np.testing.assert_allclose(found[2][4], row @ found[1], atol=1e-6)
        others = [i for i in range(count) if i != 4]
        np.testing.assert_allclose(found[2][others].sum(axis=-1), 1, atol=1e-5)
        assert np.isfinite(found).all() and abs(found[2][4].sum()) < 1e-6
        assert "but a row whose sum is 0 stays as it is." in shown.origin.meaning
        assert shown.note.startswith("Not every row sums to 1; the scale ends at ")
    for trace in (rome, rome.with_changes({f"{here}[query=4]": 0.0})):
        shown = show_rollout.__wrapped__(look(rome, trace, token=4))
        assert "stays as it is" not in shown.origin.meaning and shown.note.startswith("Each row sums to 1; ")


def read_picture(source):
    """The SVG of a small drawing."""
    return b64decode(source.partition("base64,")[2]).decode()


def test_a_words_line_leads_from_its_place_to_the_one_after_the_next_layer(rome):
    best = [[7, 8, 9], [8, 4, 7], [8, 7, 5]]
    drawn = read_picture(_draw_lines(best, 9, np.array([3, 8, 7]), look(rome)))
    lines = re.findall(r'd="M([\d.]+) ([\d.]+)H\S+ \S+ \S+ \S+ \S+ ([\d.]+)H([\d.]+)" stroke="[^"]+" ([^/]+)/>', drawn)
    found = {(float(x) // 100, (float(y) - 22) // 39, (float(z) - 22) // 39): look for x, y, z, _, look in lines}
    followed = {(0, 2, 5), (1, 5, 5)}  # word 9: from the third place to the line below the five
    assert set(found) == {(0, 0, 2), (0, 1, 0), (1, 0, 0), (1, 2, 1), *followed}
    assert {place for place, look in found.items() if "dasharray" in look} == followed


def test_a_turn_is_drawn_in_grey_before_the_layer_and_in_its_hue_after_it(rome):
    view = look(rome)
    drawn = read_picture(_draw_turn(view, 30.0, [(20.0, 90.0), (10.0, 0.0)], 44))
    before, after = (view.colors.kinds[kind] for kind in (RESIDUAL, NORM))
    assert re.findall(r'd="M0 0L([-\d.]+) ([-\d.]+)" stroke="([^"]+)"', drawn) == [
        ("30.0", "0.0", before),
        ("10.0", "-0.0", after),
        ("0.0", "-20.0", after),
    ]
    assert [float(wide) for wide in re.findall(r' d="M.+?stroke-width="([.\d]+)"', drawn)] == [2.5, 1.5, 2.5]
    assert drawn.count("stroke-dasharray") == 1  # what was before a change


@pytest.mark.parametrize(("before", "after", "angle"), [(30.0, 20.0, 90.0), (20.0, 55.0, 10.0), (20.0, 30.0, 170.0)])
def test_a_turn_is_drawn_whole_whether_its_vector_grows_or_turns_back(rome, before, after, angle):
    drawn = read_picture(_draw_turn(look(rome), before, [(after, angle)], 44))
    wide, shift = (float(re.search(at, drawn)[1]) for at in (r'viewBox="0 0 (\d+) ', r"translate\(([\d.]+) "))
    tips = [float(x) for x in re.findall(r'd="M0 0L([-\d.]+) ', drawn)]
    assert len(tips) == 2 and shift + min(0.0, *tips) > 0 and shift + max(tips) < wide
