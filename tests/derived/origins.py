"""The page that says where a number comes from, transcribed in plain NumPy; hidden tokens by Hugging Face's model."""

import numpy as np
import torch

from bertviz_core.analysis.attribution import attribute
from tests.derived.truth import ELSEWHERE, Map, Scene, Truth, best, points, softmax, truth
from tests.token_parts import transcribe, transcribe_components, transcribe_layers


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
    """Mean ranks, by counting."""
    return np.array([sum(other < value for other in values) + (sum(values == value) + 1) / 2 for value in values])


def choose_rows(parts) -> list[int]:
    """The tokens with a row of their own."""
    tokens = parts[:-1]
    return list(range(len(tokens))) if len(tokens) <= 30 else sorted(best(np.abs(tokens), 24))


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
    rho, gaps = np.corrcoef(ranks)[0, 1], np.abs(ranks[0] - ranks[1])
    odd = [shown[[*shown][int(gaps.argmax())]]] if sum(gaps == gaps.max()) == 1 and rho >= 0.3 else []
    odd = [i for i in odd if s.trace.tokens.count(s.trace.tokens[i]) > 1]  # said with its position
    recorded = float(s.trace[target])
    return Truth(
        [
            points(x=gap_up(ends, ends), y=gap_up(range(len(bars)), range(1, len(bars) + 1))),
            points(x=[*bars, total], base=[*(ends - bars), 0], y=range(len(bars) + 1)),
            points(x=gap_up([now] * len(left), left.values()), y=gap_up(left, left)),
            points(x=[*left.values()], y=[*left]),
        ],
        np.array([*parts, total])[:, None],
        told=[rho, len(s.real), total, recorded, abs(total - recorded), *odd],
    )


@truth("where_from", "written")
def written(s: Scene) -> Truth:
    start, heads, blocks, biases = transcribe_components(s.trace, find_target(s))
    total = start + heads.sum() + blocks.sum() + biases
    return Truth(
        [Map(heads), points(x=blocks)],
        np.column_stack([heads, heads.sum(axis=1), blocks]),
        told=[start, heads.size, heads.sum(), blocks.sum(), biases, total],
    )


@truth("where_from", "inside")
def inside(s: Scene) -> Truth:
    *_, states = transcribe_layers(s.trace)
    lengths = np.linalg.norm(states, axis=-1)
    return Truth([Map(lengths / lengths.sum(axis=1, keepdims=True))], may=[len(s.layers) - 1])


@truth("where_from", "methods")
def methods(s: Scene) -> Truth:
    """The strips are those of `attribute`, which has tests of its own."""
    found = attribute(s.trace, find_target(s), method="gradients")
    return Truth([ELSEWHERE], told=[abs(found.gap) / abs(found.recorded)], may=[256])


def gap_up(starts, ends) -> list[float]:
    """Lines as they are drawn: a start, an end, a gap."""
    return [x for start, end in zip(starts, ends, strict=True) for x in (start, end, np.nan)]
