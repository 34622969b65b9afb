"""How far what each method of attribution says agrees with what happens: hiding, deleting and replacing words.

    python benchmarks/attribution.py CORPUS [MORE] [--sentences 200] [--into docs/attribution.md]

CORPUS is plain text as `training/README.md` describes it; one sentence is drawn from each of so many of the documents
that the training held out, and one of its words is hidden. Asked is where the logit of the word that the model puts
there comes from. Of each method: Spearman's rank correlation with the fall of the logarithm of that word's probability
in three experiments, one token at a time; and comprehensiveness and sufficiency (DeYoung et al. 2020). Means over
sentences, each with its 95 % interval by bootstrap. The document is written between its two marks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import torch
from experiments import Case, Experiments, Passes, draw_cases, list_cuts
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.analysis.agreement import correlate_ranks
from bertviz_core.analysis.attribution import METHODS, Question, attribute_gradients
from bertviz_core.analysis.gradients import MOST_STEPS
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.errors import BertvizError
from bertviz_core.sharing.progress import report
from training.model import read_record

NAMES = {
    "parts": "parts that add up",
    "gradients": "integrated gradients from [MASK]",
    "lengths": "lengths of the parts of the last vector",
    "residual": "last layer: ‖α f(x)‖ with residual and LayerNorm",
    "values": "last layer: ‖α f(x)‖",
    "attention": "last layer: attention weights, mean of heads",
    "rollout": "attention rollout",
}
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
STEPS = 16  # of gradients at first; four times as many as long as they miss too much
RESAMPLED = 2000
EXPERIMENTS = {"hidden": "hiding", "deleted": "deleting", "replaced": "replacing"}  # names in the table
RANDOM = "a random order"
Scores = Mapping[str, Mapping[str, list[float]]]  # of each method each measure, sentence by sentence


@dataclass(frozen=True)
class Asked:
    """What the command was asked."""

    corpus: list[Path]
    sentences: int
    seed: int


def find_amounts(case: Case, random: np.random.Generator) -> dict[str, np.ndarray]:
    """What each method gives each token, by the method's name in the table."""
    question = Question(case.target)
    found = {
        name: METHODS[method](case.trace, question).parts for method, name in NAMES.items() if method != "gradients"
    }
    found[NAMES["gradients"]] = integrate(case, question)
    return {**{name: found[name] for name in NAMES.values()}, RANDOM: random.random(len(case.trace.tokens))}


def integrate(case: Case, question: Question) -> np.ndarray:
    """Integrated gradients with as many steps as they need. Raises BertvizError where none are enough."""
    steps = STEPS
    while True:
        found = attribute_gradients(case.trace, question, steps)
        if steps == MOST_STEPS or abs(found.gap or 0) <= found.tolerance:
            return found.check().parts
        steps = min(4 * steps, MOST_STEPS)


def measure(case: Case, passes: Passes, amounts: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Every measure of every method on one sentence."""
    done = passes.experiment()
    amounts = {**amounts, **{name_itself(each): getattr(done, each) for each in ("hidden", "deleted")}}
    cuts = {name: list_cuts(case, found) for name, found in amounts.items()}
    probabilities = passes.delete_sets({cut for pair in cuts.values() for side in pair for cut in side})
    before = np.exp(passes.before)

    def lose(sets: list[frozenset[int]]) -> float:
        return float(np.mean([before - probabilities[each] for each in sets]))

    return {
        name: {
            **agree(found, done, case),
            "comprehensiveness": lose(cuts[name][0]),
            "sufficiency": lose(cuts[name][1]),
        }
        for name, found in amounts.items()
    }


def agree(amounts: np.ndarray, done: Experiments, case: Case) -> dict[str, float]:
    """The rank correlations with the three experiments, over all tokens and over words; NaN where ranks say none."""
    words = list(case.words)
    found: dict[str, float | None] = {}
    for name in EXPERIMENTS:
        falls = getattr(done, name)
        found[name] = correlate_ranks(amounts, falls)
        found[f"{name}, words"] = correlate_ranks(amounts[words], falls[words])
    return {name: np.nan if value is None else value for name, value in found.items()}


def interval(values: list[float], seed: int) -> tuple[float, float, float]:
    """The mean of what is a number, and the ends of its 95 % interval, by resampling sentences."""
    known = np.array(values)[np.isfinite(values)]
    drawn = np.random.default_rng(seed).integers(len(known), size=(RESAMPLED, len(known)))
    low, high = np.quantile(known[drawn].mean(axis=1), (0.025, 0.975))
    return float(known.mean()), float(low), float(high)


def write_cell(values: list[float], seed: int) -> str:
    """A mean with its interval, as the table has it: two decimals, and a minus where there is one."""
    return "{} ({} to {})".format(*(f"{number:.2f}".replace("-", "−") for number in interval(values, seed)))


def write_table(scores: Scores, heads: Mapping[str, str], seed: int) -> str:
    """A table in Markdown: a row a method, a column a measure. heads: the columns' titles by measure."""
    lines = [f"| method | {' | '.join(heads.values())} |", f"|---|{'---|' * len(heads)}"]
    for name, measures in scores.items():
        own = [name == name_itself(each.partition(",")[0]) for each in heads]  # with itself an experiment agrees
        cells = ["" if it else write_cell(measures[each], seed) for each, it in zip(heads, own, strict=True)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def name_itself(experiment: str) -> str:
    """What an experiment is called in a row of its own."""
    return f"{EXPERIMENTS.get(experiment, experiment)} itself"


def compare(scores: Scores) -> Scores:
    """By how much each method's measures are above those of the parts, sentence by sentence."""
    first, *others = NAMES.values()
    return {
        name: {each: (np.array(values) - np.array(scores[first][each])).tolist() for each, values in found.items()}
        for name, found in scores.items()
        if name in others
    }


def write_measured(asked: Asked, digest: str, tokens: list[int], scores: Scores) -> str:
    """What stands between the marks of the document."""
    words = {f"{name}, words": f"{title}, words alone" for name, title in EXPERIMENTS.items()}
    rationales = {"comprehensiveness": "comprehensiveness", "sufficiency": "sufficiency (less is better)"}
    made = (
        f"Made by `python benchmarks/attribution.py {' '.join(file.name for file in asked.corpus)} --sentences "
        f"{asked.sentences} --seed {asked.seed}` on {date.today():%d %B %Y}, with the bundled model (digest "
        f"{digest}), on {asked.sentences} sentences of {min(tokens)} to {max(tokens)} tokens, {np.mean(tokens):.1f} "
        f"on average. Means over sentences, in brackets their 95 % intervals ({RESAMPLED:,} resamples of sentences)."
    )
    tables = {
        "Rank correlation with the three experiments": (scores, EXPERIMENTS),
        "The same without [CLS] and [SEP]": (scores, words),
        "Comprehensiveness and sufficiency": (scores, rationales),
        "How much more than the parts, sentence by sentence": (compare(scores), {**EXPERIMENTS, **rationales}),
    }
    written = [f"### {title}\n\n{write_table(rows, heads, asked.seed)}" for title, (rows, heads) in tables.items()]
    return "\n\n".join((made, *written))


def put_between(document: str, measured: str) -> str:
    """The document with other text between its marks. Raises BertvizError where they are not there."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise BertvizError(f"The document has no lines {BEGIN} and {END}. Add them where the tables belong.")
    return f"{before}{BEGIN}\n\n{measured}\n\n{END}{after}"


def run(asked: Asked) -> str:
    """Measure all sentences; the text for the document."""
    model, record = bv.load_model(), read_record(BUNDLED_FOLDER)
    library = BertForPreTraining.from_pretrained(BUNDLED_FOLDER).float().eval()  # the file has float16
    cases = draw_cases(model, asked.corpus, record["split"], record["held_out"], asked.sentences, asked.seed)
    random, told = np.random.default_rng(asked.seed), report(True, len(cases), "sentences")
    scores: dict[str, dict[str, list[float]]] = {}
    for case in cases:
        for name, measures in measure(case, Passes(library, case), find_amounts(case, random)).items():
            for each, value in measures.items():
                scores.setdefault(name, {}).setdefault(each, []).append(value)
        told(1)
    return write_measured(asked, model.digest, [len(case.trace.tokens) for case in cases], scores)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--into", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    try:
        measured = run(Asked(given.corpus, given.sentences, given.seed))
        if given.into:
            given.into.write_text(put_between(given.into.read_text(encoding="utf-8"), measured), encoding="utf-8")
        else:
            print(measured)
    except BertvizError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
