"""A trace: what it gives, that it cannot be changed, what it holds, what it cannot read."""

import json
import threading

import numpy as np
import pytest
import torch
import transformers

import bertviz_core as bv
from bertviz_core.formula.address import Address
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.tracing.env import ROWS
from tests.factory import random_checkpoint

PAIR = ("The cat sat on the mat.", "Playing in Rome?")
PROBS, DENSE = "encoder.layer.0.attention.self.probs", "encoder.layer.1.intermediate.dense"
LOGITS = "cls.predictions.decoder"
ROW = np.linspace(0, 1, 21)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("trace")))


@pytest.fixture(scope="module")
def trace(model):
    return bv.run(model, *PAIR, pad_to=21)


def everything(trace):
    return [*trace.addresses, *trace.program.leaves]


def test_the_tokens_are_the_models_input(trace):
    assert trace.tokens == [
        "[CLS]",
        "the",
        "cat",
        "sat",
        "on",
        "the",
        "mat",
        ".",
        "[SEP]",
        "play",
        "##ing",
        "in",
        "rome",
        "?",
        "[SEP]",
        *["[PAD]"] * 6,
    ]
    assert trace["attention_mask"].tolist() == [1] * 15 + [0] * 6
    assert trace["token_type_ids"].tolist() == [0] * 9 + [1] * 6 + [0] * 6
    assert trace["position_ids"].tolist() == list(range(21))
    assert [trace.model.tokenizer.token(i) for i in trace["input_ids"].tolist()] == trace.tokens


def test_every_array_is_read_only(trace):
    for address in everything(trace):
        array = trace[address]
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="read-only"):
            trace[f"{address}[{trace.dims(address)[0]}=0]"][...] = 0


def test_tokens_cannot_be_changed_from_outside(trace):
    trace.tokens.append("more")
    assert len(trace.tokens) == 21


def test_every_array_has_the_shape_and_dtype_it_says(trace):
    for address in everything(trace):
        array = trace[address]
        assert array.shape == trace.shape(address) and array.ndim == len(trace.dims(address)), address
        assert array.dtype == (np.int64 if address.endswith("_ids") else np.float32), address


def test_float64_is_float64_throughout(model):
    double = bv.run(bv.load_model(model.name, dtype=torch.float64), *PAIR, pad_to=21)
    for address in everything(double):
        assert double[address].dtype == (np.int64 if address.endswith("_ids") else np.float64), address


def test_slices_and_cells(trace):
    whole = trace[PROBS]
    assert trace.dims(PROBS) == ("head", "query", "key") and trace.shape(PROBS) == (3, 21, 21)
    assert trace.dims(f"{PROBS}[query=4]") == ("head", "key") and trace.shape(f"{PROBS}[query=4]") == (3, 21)
    assert trace.dims(f"{PROBS}[key=1,head=2,query=3]") == () and trace.shape(f"{PROBS}[key=1,head=2,query=3]") == ()
    np.testing.assert_array_equal(trace[f"{PROBS}[query=4]"], whole[:, 4])
    np.testing.assert_array_equal(trace[f"{PROBS}[key=4,head=1]"], whole[1, :, 4])
    assert trace[f"{PROBS}[key=1,head=2,query=3]"].item() == whole[2, 3, 1].item()


def test_parameters_are_in_by_out(trace):
    weight = "encoder.layer.0.intermediate.dense.weight"
    assert trace.dims(weight) == ("hidden", "intermediate") and trace[weight].shape == (24, 40)
    np.testing.assert_array_equal(trace["cls.predictions.decoder.weight"], trace["embeddings.word_embeddings.weight"].T)


def test_membership(trace):
    assert PROBS in trace and "input_ids" in trace and f"{DENSE}.weight" in trace
    assert "encoder.layer.2.output" not in trace and "" not in trace
    whole = Address(PROBS)
    assert f"{PROBS}[head=1]" in trace and whole.fix(head=1, query=0, key=20) in trace
    assert whole.fix(key=21) not in trace and whole.fix(token=0) not in trace and f"{PROBS}[head" not in trace


@pytest.mark.parametrize("ask", ["__getitem__", "dims", "shape", "step", "explain"])
@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("encoder.layer.9.attention.self.probs", "there is no layer 9: the layers are 0 to 1"),
        ("encoder.layer.2.attention", "there is no layer 2: the layers are 0 to 1"),
        ("encoder.layer.1.attention.self.prob", r"did you mean encoder.layer.1.attention.self.probs\?"),
        ("encoder.layer.1.attention.selfprobs", r"did you mean encoder.layer.1.attention.self.probs\?"),
        ("encoder.layer.1.output.Layernorm", r"did you mean encoder.layer.1.output.LayerNorm\?"),
        ("encoder.layers.1.output.dense", r"did you mean encoder.layer.1.output.dense\?"),
        ("bert.encoder.layer.1.output.dense", r"did you mean encoder.layer.1.output.dense\?"),
        ("attention.self.probs", r"did you mean encoder.layer.0.attention.self.probs\?"),
        ("embedding.sum", r"did you mean embeddings.sum\?"),
        ("bert.embeddings.sum", r"did you mean embeddings.sum\?"),
        ("cls.predictions.prob", r"did you mean cls.predictions.probs\?"),
        ("nowhere", "an address looks like embeddings.word_embeddings"),
        ("not an address", "is not an address"),
    ],
)
def test_an_address_that_is_not_there_is_an_error_with_a_hint(trace, ask, address, message):
    with pytest.raises(bv.AddressError, match=message):
        getattr(trace, ask)(address)


@pytest.mark.parametrize("kind", ["pretraining", "token-classification"])
def test_a_module_of_modules_is_told_by_the_address_of_what_it_gives(tmp_path, kind):
    """What a forward hook on it would see, in the library's own model."""
    folder = random_checkpoint(tmp_path, kind=kind)
    trace = bv.run(bv.load_model(folder, dtype=torch.float64), "the cat sat on the mat")
    theirs = getattr(transformers, json.loads((folder / "config.json").read_text())["architectures"][0])
    theirs = theirs.from_pretrained(folder, dtype=torch.float64).eval()
    given = {}
    for name, module in theirs.named_modules():
        if [*module.children()] and name not in ("", "bert", "cls", "bert.encoder.layer"):
            module.register_forward_hook(lambda _module, _args, out, name=name: given.update({name: out}))
    with torch.no_grad():
        theirs(input_ids=torch.tensor([trace.encoding.ids]))
    assert len(given) >= 14
    for name, out in given.items():
        with pytest.raises(bv.AddressError, match="what this module of Hugging Face's gives is") as told:
            trace[name]
        first = next(iter(out.values())) if isinstance(out, dict) else out[0] if isinstance(out, tuple) else out
        ours = trace[str(told.value).rpartition(" ")[2]]
        np.testing.assert_allclose(ours, np.squeeze(first.numpy(), 0), atol=1e-10, err_msg=name)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (f"{PROBS}[head=3]", "head 3 is out of range; it runs from 0 to 2"),
        (f"{PROBS}[token=0]", "has no axis 'token'; its axes are head, query, key"),
        (f"{PROBS}[heads=0]", "has no axis 'heads'; its axes are head, query, key; did you mean head?"),
        (f"{PROBS}[querry=0]", "its axes are head, query, key; did you mean query?"),
        ("input_ids[token=21]", "token 21 is out of range; it runs from 0 to 20"),
        ("cls.seq_relationship[relation=2]", "relation 2 is out of range; it runs from 0 to 1"),
    ],
)
@pytest.mark.parametrize("ask", ["__getitem__", "dims", "shape"])
def test_an_index_that_is_not_there_is_an_error_that_says_what_is(trace, ask, address, message):
    with pytest.raises(bv.AddressError) as caught:
        getattr(trace, ask)(address)
    assert message in str(caught.value)


def test_a_second_look_is_bit_for_bit_the_first(model):
    trace = bv.run(model, *PAIR, cache=ByteLRU(0))  # nothing is cached: every look computes anew
    for address in trace.addresses:
        first, second = trace[address], trace[address]
        assert first.tobytes() == second.tobytes(), address
        assert address in trace.program.spine or not np.shares_memory(first, second)


def test_what_is_cached_is_not_computed_again(model):
    trace = bv.run(model, *PAIR)
    assert np.shares_memory(trace[PROBS], trace[PROBS])


def test_the_cache_stays_within_its_bound(model):
    cache = ByteLRU(20_000)
    traces = [bv.run(model, text, cache=cache) for text in PAIR]
    for address in traces[0].addresses:
        for trace in traces:
            trace[address]
            assert cache.nbytes <= 20_000
    assert cache.nbytes > 10_000 and len(cache) > 1


def test_traces_that_share_a_cache_do_not_share_numbers(model):
    cache = ByteLRU(10_000_000)
    one, other = (bv.run(model, text, pad_to=12, cache=cache) for text in PAIR)
    alone = bv.run(model, PAIR[1], pad_to=12)
    assert not np.array_equal(one[PROBS], other[PROBS])
    np.testing.assert_array_equal(other[PROBS], alone[PROBS])


def test_a_trace_holds_its_spine_and_nothing_else(model):
    trace = bv.run(model, *PAIR)
    spine = sum(trace[address].nbytes for address in trace.program.spine)
    assert trace.nbytes == spine
    assert trace.nbytes < sum(trace[address].nbytes for address in trace.addresses) / 4
    assert not trace.program.by_rows & trace.program.spine


def test_a_long_trace_of_the_bundled_model_is_small(bundled):
    trace = bv.run(bundled, "the cat sat " * 170)
    assert len(trace.tokens) == 512
    assert trace.nbytes < 10_000_000


@pytest.mark.parametrize("program", ["bert", "notebook", "definition"])
@pytest.mark.parametrize(
    "changes", [None, {LOGITS: 0.5, f"{LOGITS}[token=20]": 2.0, f"{LOGITS}[vocab=3]": ROW}], ids=["as it is", "what if"]
)
def test_a_row_is_bit_for_bit_the_same_however_it_is_asked_for(model, program, changes):
    """Alone, as a cell, after its neighbours, or with all others; with nothing cached, every time computed anew."""
    trace = bv.run(model, *PAIR, pad_to=21, program=program, changes=changes, cache=ByteLRU(0))
    assert LOGITS in trace.program.by_rows and 21 % ROWS  # the last block is a short one
    for address in trace.program.by_rows:
        whole, where = trace[address], Address(address)
        for token in (20, 0, 15, 16, 7):
            assert trace[where.fix(token=token)].tobytes() == whole[token].tobytes(), address
    assert trace[f"{LOGITS}[token=16,vocab=7]"] == trace[LOGITS][16, 7]
    np.testing.assert_array_equal(trace[f"{LOGITS}[vocab=7]"], trace[LOGITS][:, 7])


def test_a_run_and_a_look_at_a_row_compute_no_other_rows(model):
    cache = ByteLRU(10_000_000)
    trace = bv.run(model, *PAIR, pad_to=40, cache=cache)
    assert cache.nbytes == 0
    block = ROWS * model.config.vocab_size * 4
    for look in (trace.__getitem__, trace.explain, trace.derivatives, trace.recomputed):
        look("cls.predictions.probs[token=17,vocab=3]")
        assert cache.nbytes == 2 * block  # of the logits and of the probabilities


def test_rows_are_those_of_the_formula(model):
    trace = bv.run(model, *PAIR, pad_to=40)
    norm, weight = trace["cls.predictions.transform.LayerNorm"], trace[f"{LOGITS}.weight"]
    logits = norm.astype(np.float64) @ weight + trace[f"{LOGITS}.bias"]
    np.testing.assert_allclose(trace[LOGITS], logits, rtol=1e-5, atol=1e-5)
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    np.testing.assert_allclose(trace["cls.predictions.probs"], powers / powers.sum(axis=-1, keepdims=True), rtol=1e-5)


def test_threads_that_look_at_once_see_the_same(model):
    trace = bv.run(model, *PAIR, cache=ByteLRU(30_000))
    expected = {address: trace[address].copy() for address in trace.addresses}
    wrong = []

    def look(addresses):
        wrong.extend(a for a in addresses if not np.array_equal(trace[a], expected[a]))

    threads = [threading.Thread(target=look, args=(trace.addresses[:: (-1) ** i],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    "address",
    ["cls.predictions.probs[token=2]", "cls.predictions.probs[token=2,vocab=7]", PROBS, f"{PROBS}[head=1,query=3]",
     "embeddings.word_embeddings", "embeddings.position_embeddings[hidden=5]",
     "embeddings.word_embeddings[token=3]", "encoder.layer.1.attention.self.context[token=4]", "pooler.activation",
     "embeddings.LayerNorm.variance[token=5]", "input_ids", f"{DENSE}.weight"],
)  # fmt: skip
def test_a_part_is_recomputed_without_the_rest(trace, address):
    found = trace.recomputed(address)
    assert found.dtype == np.float64 and found.shape == trace.shape(address)
    np.testing.assert_allclose(found, trace[address], rtol=1e-5, atol=1e-6)


def test_what_a_change_put_there_is_not_recomputed(model):
    changed = bv.run(model, PAIR[0], changes={f"{PROBS}[head=1]": 0.25})
    assert (changed.recomputed(f"{PROBS}[head=1,query=2]") == 0.25).all()
    np.testing.assert_array_equal(changed.recomputed(PROBS), changed[PROBS])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": ""}, "The sentence is empty"),
        ({"text": " \n\t "}, "The sentence is empty"),
        ({"text": "a", "text_pair": ""}, "The second sentence is empty"),
        ({"text": "\ud800"}, "half a character"),
        ({"text": "a", "pad_to": 0}, "between 1 and 64 tokens, not 0"),
        ({"text": "a", "pad_to": -5}, "between 1 and 64 tokens, not -5"),
        ({"text": "a", "pad_to": 65}, "between 1 and 64 tokens, not 65"),
        ({"text": "a " * 63}, "The text has 65 tokens; this model reads at most 64. Shorten it by 1."),
        ({"text": "a " * 40, "text_pair": "b " * 40}, "The text has 83 tokens; .* Shorten it by 19."),
        ({"text": "a", "program": "gpt"}, "no program 'gpt'. Choose one of these: bert"),
    ],
)
def test_an_input_that_cannot_be_run_is_said(model, arguments, message):
    with pytest.raises(bv.InputError, match=message):
        bv.run(model, **arguments)


def test_513_tokens_are_one_too_many(bundled):
    with pytest.raises(bv.InputError, match="has 513 tokens; this model reads at most 512"):
        bv.run(bundled, "the " * 511)


def test_a_model_of_one_segment_refuses_a_pair(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, type_vocab_size=1))
    assert bv.run(model, PAIR[0]).tokens
    with pytest.raises(bv.InputError, match="only one segment"):
        bv.run(model, *PAIR)


def test_padding_does_not_change_what_the_words_get(model):
    plain, padded = bv.run(model, PAIR[0]), bv.run(model, PAIR[0], pad_to=30)
    np.testing.assert_allclose(
        padded["cls.predictions.decoder"][:9], plain["cls.predictions.decoder"], rtol=0, atol=1e-5
    )


def test_padding_to_less_than_the_text_leaves_it_as_it_is(model):
    assert bv.run(model, PAIR[0], pad_to=3).tokens == bv.run(model, PAIR[0]).tokens


def test_the_longest_text_can_be_padded_to_its_own_length(model):
    assert len(bv.run(model, "a " * 62, pad_to=64).tokens) == 64
