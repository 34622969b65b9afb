"""The page that says where a number comes from, transcribed in plain NumPy; hidden tokens by Hugging Face's model."""

from dataclasses import dataclass

import numpy as np
import torch

from bertviz_core.analysis.attribution import attribute
from tests.derived.reading import find_numbers
from tests.derived.stages import roll_out
from tests.derived.truth import Map, Scene, Truth, best, points, softmax, truth
from tests.test_value_weighted import weigh_by_hand
from tests.token_parts import find_reader, transcribe, transcribe_components, transcribe_last


def find_target(s: Scene) -> str:
    """The address of the number that the page opens with: the likeliest word's, class's, or answer's start."""
    if "cls.predictions.decoder" in s.trace:
        return f"cls.predictions.decoder[token={s.token},vocab={read_row(s).argmax()}]"
    if "classifier" in s.trace:
        of_token = f"token={s.token}," if "token" in s.trace.dims("classifier") else ""
        return f"classifier[{of_token}label={read_row(s).argmax()}]"
    inside = [i for i, kind in enumerate(s.trace.encoding.segments) if kind and s.trace.encoding.mask[i]][:-1]
    found = s.hf_run
    start, end = (side[0].double().numpy() for side in (found.start_logits, found.end_logits))
    spans = [(i, j) for i in inside for j in inside if i <= j < i + 30]
    return f"qa_outputs.start[start={max(spans, key=lambda span: start[span[0]] + end[span[1]])[0]}]"


@torch.inference_mode()
def read_row(s: Scene, ids=None) -> np.ndarray:
    """The logits among which the target stands, by Hugging Face's model. ids: to read instead of the sentence's."""
    read = s.trace.encoding
    given = {"input_ids": ids or read.ids, "token_type_ids": read.segments, "attention_mask": read.mask}
    found = s.hf(**{name: torch.tensor([row]) for name, row in given.items()})
    if "prediction_logits" in found:
        row = found.prediction_logits[0, s.token]
    elif "logits" in found:
        row = found.logits[0, s.token] if found.logits.dim() == 3 else found.logits[0]
    else:
        row = found.start_logits[0]
    return row.double().numpy()


def hide(s: Scene, i: int, place: int) -> float:
    """The target's probability with token i hidden."""
    ids = [*s.trace.encoding.ids]
    ids[i] = s.trace.model.tokenizer.mask_id
    return float(softmax(read_row(s, ids))[place])


def rank(values) -> np.ndarray:
    """Mean ranks; what rounding alone tells apart is equal, also where only others lie between."""
    near, groups = max(1e-5 * np.abs(values).max(), 5e-6), []
    for value in sorted(values):
        if not groups or value - groups[-1][-1] > near:
            groups.append([])
        groups[-1].append(value)
    firsts = np.cumsum([0, *map(len, groups)])
    means = {
        value: first + (len(group) + 1) / 2 for first, group in zip(firsts, groups, strict=False) for value in group
    }
    return np.array([means[value] for value in values])


def choose_rows(parts) -> list[int]:
    """The tokens with a row of their own."""
    tokens = parts[:-1]
    return list(range(len(tokens))) if len(tokens) <= 20 else sorted(best(np.abs(tokens), 14))


@truth("where_from", "carried")
def carried(s: Scene) -> Truth:
    target = find_target(s)
    place, parts = int(target.rstrip("]").rpartition("=")[2]), transcribe(s.trace, target)
    rows, total, now = choose_rows(parts), float(parts.sum()), float(softmax(read_row(s))[place])
    others = [parts[:-1].sum() - parts[rows].sum()] if len(rows) < len(parts) - 1 else []
    bars = np.array([*parts[rows], *others, parts[-1]])
    ends = np.cumsum(bars)
    mask = s.trace.model.tokenizer.mask_id
    shown = {r: i for r, i in enumerate(rows) if i in s.real and s.trace.encoding.ids[i] != mask}
    left = {r: hide(s, i, place) for r, i in shown.items()}
    ranks = [rank(parts[[*shown.values()]]), rank(np.log(now) - np.log([*left.values()]))]
    ties = any(len({*each}) < len(each) for each in ranks)
    rho, gaps = np.corrcoef(ranks)[0, 1], np.abs(ranks[0] - ranks[1])
    odd = [shown[[*shown][int(gaps.argmax())]]] if sum(gaps == gaps.max()) == 1 and rho >= 0.3 else []
    odd = [i for i in odd if s.trace.tokens.count(s.trace.tokens[i]) > 1]  # said with its position
    recorded = float(s.trace[target])
    apart = read_difference(s)  # how the pass's precision rounds; all that is known of it is how little that can be
    assert apart <= 1e-6 * max(1.0, np.abs(parts).sum())
    return Truth(
        [
            points(x=gap_up(ends, ends), y=gap_up(range(len(bars)), range(1, len(bars) + 1))),
            points(x=[*bars, total], base=[*(ends - bars), 0], y=range(len(bars) + 1)),
            points(x=gap_up([now] * len(left), left.values()), y=gap_up(left, left)),
            points(x=[*left.values()], y=[*left]),
        ],
        np.array([*parts, total])[:, None],
        told=[rho, len(s.real), total, recorded, apart, *odd, *([1e-5, 5e-6] if ties else [])],
    )


def read_difference(s: Scene) -> float:
    """How far the sum of the parts is from the recorded number, as the page has it."""
    text = " ".join(s.shown.find("where_from", "carried").texts)
    return find_numbers(text.rpartition("; difference ")[2])[0].value


@truth("where_from", "written")
def written(s: Scene) -> Truth:
    start, heads, blocks, biases = transcribe_components(s.trace, find_target(s))
    total = start + heads.sum() + blocks.sum() + biases
    return Truth(
        [Map(heads)],
        np.column_stack([heads, heads.sum(axis=1), blocks]),
        told=[start, heads.size, heads.sum(), blocks.sum(), biases, total],
    )


@truth("where_from", "written-beside")
def written_blocks(s: Scene) -> Truth:
    _, _, blocks, _ = transcribe_components(s.trace, find_target(s))
    return Truth([points(x=blocks)])


@truth("where_from", "inside")
def inside(s: Scene) -> Truth:
    states = transcribe_last(s.trace)
    lengths = np.linalg.norm(states, axis=-1)
    shares = Map(lengths / lengths.sum(axis=1, keepdims=True))
    return Truth([shares, shares], may=[len(s.layers) - 1])


@truth("where_from", "methods")
def methods(s: Scene) -> Truth:
    """Every strip by its definition; gradients are those of `attribute`, which has tests of its own."""
    target = find_target(s)
    place, parts = int(target.rstrip("]").rpartition("=")[2]), transcribe(s.trace, target)
    mask, here = s.trace.model.tokenizer.mask_id, read_place(target)
    known = [i for i in choose_rows(parts) if i in s.real and s.trace.encoding.ids[i] != mask]
    now, falls = float(softmax(read_row(s))[place]), np.full(len(s.trace.tokens), np.nan)
    for i in known:
        falls[i] = np.log(now) - np.log(hide(s, i, place))
    states = transcribe_last(s.trace)
    gradients = attribute(s.trace, target, method="gradients")
    if abs(gradients.gap) > abs(gradients.recorded) / 1000:
        gradients = attribute(s.trace, target, method="gradients", steps=128)
    last = s.layers[-1]
    values, residual = weigh_by_hand(s.trace, last)
    strips = {
        "hidden": falls,
        "parts": parts[:-1],
        "gradients": gradients.parts,
        "length share": np.linalg.norm(states[here, :-1], axis=-1),
        "attention": s[f"encoder.layer.{last}.attention.self.probs"].mean(axis=0)[here],
        "· value, W": values[here],
        "· + residual": residual[here],
        "roll-out": roll_out(s)[-1][here],
    }
    rows = {name: amounts + 0 * falls for name, amounts in strips.items()}
    orders = {name: float(np.corrcoef(rank(row[known]), rank(falls[known]))[0, 1]) for name, row in rows.items()}
    gap = abs(gradients.gap) / abs(gradients.recorded)
    return Truth([Strips(rows, orders)], told=[gap, orders["roll-out"]])


@truth("where_from", "page")
def left_out(s: Scene) -> Truth:
    """Of a long text, up to how many tokens the other cards are shown."""
    return Truth(told=[40] if len(s.trace.tokens) > 40 else [])


def read_place(target) -> int:
    """The token whose last vector the number is read from."""
    pairs = (part.split("=") for part in target.rstrip("]").partition("[")[2].split(","))
    return find_reader({axis: int(i) for axis, i in pairs})


@dataclass(frozen=True)
class Strips:
    """Rows on scales of their own, and beside all but the first the rank correlation with that."""

    rows: dict[str, np.ndarray]
    orders: dict[str, float]

    def check(self, panel, trace, why) -> None:
        assert panel.labels == list(self.rows), why
        for row, amounts in zip(trace["z"], self.rows.values(), strict=True):
            np.testing.assert_allclose(row, amounts / np.nanmax(np.abs(amounts)), atol=2e-4, err_msg=str(why))
        _, *told = (text["text"] for text in panel.figure["layout"]["annotations"])
        assert len(told) == len(self.rows) - 1, why
        for text, expected in zip(told, list(self.orders.values())[1:], strict=True):
            (number,) = find_numbers(text)
            assert number.tells(expected, 1e-7), (why, text, expected)


def gap_up(starts, ends) -> list[float]:
    """Lines as they are drawn: a start, an end, a gap."""
    return [x for start, end in zip(starts, ends, strict=True) for x in (start, end, np.nan)]
