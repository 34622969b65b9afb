"""Recomputing an address: only what it is made from, each step once, the same numbers, however small the cache is."""

from collections import Counter
from dataclasses import dataclass, field, replace

import pytest
import torch

import bertviz_core as bv
from bertviz_core.formula.address import Address
from bertviz_core.formula.cells import narrow, restrict
from bertviz_core.formula.dims import HEAD, TOKEN, VOCAB
from bertviz_core.formula.functions import Softmax
from bertviz_core.formula.nodes import Expr, Symbol
from bertviz_core.formula.steps import Program
from bertviz_core.programs import PROGRAMS
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.sharing.threads import use_threads
from bertviz_core.tracing.env import ROWS

TEXT = "When in Rome, do as the [MASK] do."
PROBS, RESIDUAL, VARIANCE, NORMALIZED = (
    Address.in_layer(1, leaf).path
    for leaf in ("attention.self.probs", "output.residual", "output.LayerNorm.variance", "output.LayerNorm.normalized")
)


@dataclass(frozen=True)
class Counted(Expr):
    """An expression that counts how often it is computed."""

    inner: Expr
    address: str
    counts: Counter = field(compare=False)

    @property
    def parts(self):
        return self.inner.parts

    def dims(self):
        return self.inner.dims()

    def value(self, env):
        self.counts[self.address] += 1
        return self.inner.value(env)

    def work(self, env, at):
        return self.inner.work(env, at)

    def pull(self, env, at):
        return self.inner.pull(env, at)

    def worked(self, env, at):
        return self.inner.worked(env, at)


@pytest.fixture(scope="module")
def counts():
    return Counter()


@pytest.fixture(scope="module")
def counted(bundled, counts):
    """The bundled model with every step counted."""
    program = bundled.program
    steps = tuple(replace(step, expr=Counted(step.expr, step.address, counts)) for step in program.steps)
    return replace(bundled, program=Program(program.name, steps, program.spine))


@pytest.fixture
def cold(counted, counts):
    """A trace that caches nothing, and counts that start after its run."""
    trace = bv.run(counted, TEXT, cache=ByteLRU(0))
    counts.clear()
    return trace


def made_from(program, address):
    """The steps between an address and the spine, itself included."""
    if address not in program.by_address or address in program.spine:
        return set()
    leaves = program.by_address[address].leaves
    return {address}.union(*(made_from(program, leaf.address) for leaf in leaves))


def test_a_run_computes_once_what_the_spine_is_made_from(counted, counts):
    counts.clear()
    trace = bv.run(counted, TEXT)
    heads = {address for address in trace.addresses if address.startswith(("pooler", "cls.seq_relationship"))}
    assert counts == dict.fromkeys(
        set(trace.addresses) - heads - {"cls.predictions.decoder", "cls.predictions.probs"}, 1
    )


def test_a_cold_request_computes_once_what_the_address_is_made_from(cold, counts):
    blocks = -(-len(cold.tokens) // ROWS)
    for address in cold.addresses:
        if Address(address).layer not in (None, 1):
            continue
        counts.clear()
        cold[address]
        expected = made_from(cold.program, address)
        assert counts == {each: blocks if each in cold.program.by_rows else 1 for each in expected}, address


def test_explaining_a_cell_computes_nothing_twice(cold, counts):
    cold.explain(f"{NORMALIZED}[token=2,hidden=7]")
    assert counts == dict.fromkeys(made_from(cold.program, NORMALIZED), 1)


def test_what_a_request_computed_on_its_way_is_cached(counted, counts):
    trace = bv.run(counted, TEXT)
    trace[RESIDUAL]
    counts.clear()
    trace[NORMALIZED]
    trace[VARIANCE]
    assert set(counts) == {NORMALIZED, VARIANCE, Address.in_layer(1, "output.LayerNorm.mean").path}
    assert max(counts.values()) == 1


def test_a_cache_that_keeps_evicting_stays_in_its_bound(counted, counts):
    cache = ByteLRU(bv.run(counted, TEXT)[RESIDUAL].nbytes * 3 // 2)
    trace = bv.run(counted, TEXT, cache=cache)
    counts.clear()
    trace[NORMALIZED]
    assert max(counts.values()) == 1
    assert 0 < cache.nbytes <= cache.max_bytes


def test_what_is_looked_at_is_computed_on_as_many_threads_as_the_run(bundled):
    """On another number of threads a product of few rows comes out a little different."""
    seen = []

    class Watched(Counted):
        def value(self, env):
            seen.append(torch.get_num_threads())
            return super().value(env)

    steps = tuple(replace(each, expr=Watched(each.expr, each.address, Counter())) for each in bundled.program.steps)
    model = replace(bundled, program=replace(bundled.program, steps=steps))
    outside = torch.get_num_threads()
    with use_threads(outside + 1):
        trace = bv.run(model, TEXT)
    changed = trace.with_changes({f"{PROBS}[head=3]": 0.0})
    for each in (trace, changed):
        each[NORMALIZED], each["cls.predictions.probs[token=2]"]
    assert len(seen) > len(trace.computed) + len(changed.computed) and set(seen) == {outside + 1}
    assert torch.get_num_threads() == outside


def compute_in_blocks(step, kept, tokens):
    """A product of few rows is summed in another order than one of many: the blocks decide the last bit."""
    blocks = []
    for first in range(0, tokens, ROWS):
        at = {TOKEN: range(first, min(first + ROWS, tokens))}
        blocks.append(
            step.expr.value(
                {leaf.address: narrow(kept[leaf.address], leaf.axes, restrict(at, leaf.axes)) for leaf in step.leaves}
            )
        )
    return torch.cat(blocks)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("changes", [None, {f"{PROBS}[head=3]": 0.0}], ids=["as it is", "what if"])
def test_recomputed_tensors_are_those_of_a_pass_that_keeps_everything(bundled, changes, program):
    trace = bv.run(bundled, TEXT, changes=changes, program=program)
    inputs = {symbol.address: torch.tensor(trace[symbol.address]) for symbol in trace.program.inputs}
    kept = {**bundled.parameters, **inputs}
    with torch.no_grad():  # here nothing is written over, as it is where a trace runs
        for step in trace.program.steps:
            kept[step.address] = step.expr.value(kept)
            if step.address in trace.program.by_rows:
                whole, kept[step.address] = kept[step.address], compute_in_blocks(step, kept, len(trace.tokens))
                torch.testing.assert_close(kept[step.address], whole, rtol=1e-5, atol=1e-5)
            if changes and step.address == PROBS:
                kept[step.address][3] = 0.0
    for address in trace.addresses:
        assert torch.equal(torch.tensor(trace[address]), kept[address]), address


@pytest.mark.parametrize("axes", [(VOCAB,), (TOKEN, VOCAB), (HEAD, TOKEN, VOCAB), (VOCAB, TOKEN)])
def test_the_vocabulary_softmax_row_by_row_is_the_softmax_of_the_whole(axes):
    scores = torch.randn([{VOCAB: 500, TOKEN: 5, HEAD: 3}[axis] for axis in axes])
    row_by_row = Softmax(Symbol("scores", "s", axes, "s", "norm"), VOCAB).apply(scores)
    assert torch.equal(row_by_row, scores.double().softmax(axes.index(VOCAB)).float())
