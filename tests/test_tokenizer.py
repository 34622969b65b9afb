"""Our record of the tokenizer against the library's ids, on every character there is and on random texts."""

import json
import random
import shutil

import pytest

import bertviz_core as bv
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.checkpoint.tokenizer import load_tokenizer
from tests.factory import VOCABULARY

UNCASED = {}
VARIANTS = {
    "uncased": UNCASED,
    "cased": {"do_lower_case": False},
    "cased, accents off": {"do_lower_case": False, "strip_accents": True},
    "uncased, accents on": {"strip_accents": False},
    "no Chinese handling": {"tokenize_chinese_chars": False},
}
HARD = {
    "accents": "Café naïve Ångström façade Řeřicha",
    "accents, decomposed": "Cafe\u0301 nai\u0308ve A\u030angstro\u0308m",
    "stacked accents": "Z\u0351\u036b\u0343\u036a\u0302a\u034alg\u0308o e\u0301\u0300\u0323",
    "accents out of order": "a\u0323\u0307 a\u0307\u0323 q\u0307\u0323",
    "a lone accent": "\u0301 \u0301abc a \u0308",
    "Turkish": "İstanbul ılık I i İİ",
    "final sigma": "ΟΔΟΣ ΣΑΣ σς Σ",
    "sharp s": "Straße STRASSE ẞ ß",
    "ligatures": "ﬁn ﬂow Ǆ ǅ Ĳ",
    "emoji": "I ❤️ 🤖 👍🏽 done",
    "joined emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇫🇷 1️⃣",
    "Chinese, Japanese": "我爱BERT吗 東京タワー ｶﾀｶﾅ が か\u3099",
    "Korean": "한국어 \u1112\u1161\u11ab",
    "rare Chinese": "\U00020000x\U0002b820y\uf900\U0002f800\u9fff\ua000",
    "Arabic": "مَرْحَبًا ٱلْعَالَم ۱۲۳ \u06dd\u08e2",
    "Hebrew": "שָׁלוֹם עוֹלָם־טוב",
    "direction marks": "a\u200eb\u200fc\u202ad\u202ee\u2066f\u2069g\u061c",
    "Thai": "ภาษาไทย กำ น้ำ",
    "Devanagari": "हिन्दी नमस्ते क\u093c",
    "Vietnamese": "Tiếng Việt đường",
    "control characters": "a\x01b\x07c\x1bd\x7fe\x9ff",
    "NUL": "a\x00b \x00 c",
    "replacement character": "a\ufffdb \ufffd",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg",
    "tabs and lines": "a\tb\nc\rd\r\ne\vf\fg",
    "separators that are no spaces": "a\x1cb\x1dc\x1ed\x1fe",
    "next line": "a\x85b",
    "every space": "a\u00a0b\u1680c\u2000d\u2007e\u200af\u202fg\u205fh\u3000i\u2028j\u2029k\u180el",
    "spaces around": "  two  words  ",
    "100 letters": "a" * 100,
    "101 letters": "a" * 101,
    "100 letters before accents": "é" * 100 + " " + "e\u0301" * 100,
    "101 letters after lowering": "İ" * 51 + " " + "İ" * 101,
    "very long": "x" * 5000 + " ok",
    "mask": "the [MASK] sat",
    "mask glued": "un[MASK]able x[MASK][MASK]y [MASK]",
    "mask in lower case": "the [mask] sat [Mask]",
    "nested masks": "[[MASK]] [MASK[MASK]MASK] [[[MASK]",
    "half a mask": "[MASK [MAS [MASK MASK]",
    "mask with an accent": "[MASK]\u0301 [MÁSK] [MASK]é",
    "every special token": "[CLS] a [SEP] [PAD] [UNK] [MASK] b",
    "punctuation": "?!?... --- ''\"\" (a)[b]{c} <d> e/f\\g|h ~^`",
    "symbols": "$5 €5 £5 +-=<> © ™ § ¶ • … – — “x” ‘y’ «z»",
    "new punctuation": "a\u2e52b\u2e5dc \u061d \U00016fe2",
    "numbers": "3.14159 1,000,000 1e-10 ½ ² Ⅷ ١٢٣ 0x1F",
    "pieces as typed": "##ing play ##ing #ing a##b",
    "HTML": "<script>alert('x')</script> &amp; <b>",
    "URL": "https://example.com/a_b?c=%20d&e=f#g user@example.com",
    "code": "def f(x): return x**2  # [MASK]",
    "LaTeX": r"$\frac{1}{2}\,\mathrm{softmax}$",
    "private use": "a\ue000b\U000f0000c",
    "unassigned": "a\u0378b\U000e0fffc \u0378 \U0001fbff",
    "non-characters": "a\ufffeb\uffffc\U0010ffffd",
    "supplementary": "𝓗𝓮𝓵𝓵𝓸 𝐁𝐄𝐑𝐓 𐍈 𓀀 \U000e0041",
    "marks newer than the library's table": "a\u0898b \U00010eabx \u1acey",
}


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    """A tokenizer of every variant, from a folder with a vocab.txt only and its settings."""
    made = {}
    for number, (name, settings) in enumerate(VARIANTS.items()):
        folder = tmp_path_factory.mktemp(f"variant{number}")
        for file in ("config.json", "vocab.txt"):
            shutil.copy(BUNDLED_FOLDER / file, folder)
        if settings:
            (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        made[name] = load_tokenizer(folder, 30522)
    return made


def library_ids(tokenizer, text):
    """The ids the model reads, without [CLS] and [SEP]; none where nothing of the text is left."""
    try:
        return tokenizer.encode(text).ids[1:-1]
    except bv.InputError:
        return ()


def edited(folder, edit):
    """A folder with the small vocabulary and the tokenizer.json that `edit` makes of the usual one."""
    vocabulary = dict(zip(VOCABULARY, range(len(VOCABULARY)), strict=True))
    state = json.loads((BUNDLED_FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    state["model"]["vocab"] = vocabulary
    for token in state["added_tokens"]:
        token["id"] = vocabulary[token["content"]]
    for name, token in state["post_processor"]["special_tokens"].items():
        token["ids"] = [vocabulary[name]]
    edit(state)
    (folder / "tokenizer.json").write_text(json.dumps(state), encoding="utf-8")
    (folder / "config.json").write_text('{"model_type": "bert"}')
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    for token in ("cls_token", "sep_token", "mask_token", "pad_token", "unk_token"):
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        settings[token] = f"[{token.split('_')[0].upper()}]"
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return load_tokenizer(folder, 101)


def added(content, number, **options):
    usual = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": content, "special": True, **usual, **options}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("hello world!", (101, 7592, 2088, 999, 102)),
        (
            "When in Rome, do as the [MASK] do.",
            (101, 2043, 1999, 4199, 1010, 2079, 2004, 1996, 103, 2079, 1012, 102),
        ),
    ],
)
def test_known_ids(bundled, text, ids):
    assert bundled.tokenizer.encode(text).ids == ids
    assert bundled.tokenizer.record(text).ids == ids[1:-1]


def test_the_ids_of_a_trace_are_those_of_the_record(rome, bundled):
    record = bundled.tokenizer.record("When in Rome, do as the [MASK] do.")
    assert rome.encoding.ids[1:-1] == record.ids
    assert rome.tokens[1:-1] == [piece for word in record.words for piece in word.pieces]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_hard_texts(tokenizers, variant, text):
    tokenizer = tokenizers[variant]
    assert tokenizer.record(text).ids == library_ids(tokenizer, text)


def test_vocab_txt_alone_equals_the_full_files(tokenizers, bundled):
    for text in HARD.values():
        assert tokenizers["uncased"].record(text).ids == library_ids(bundled.tokenizer, text)


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_texts(tokenizers, variant):
    tokenizer, draw = tokenizers[variant], random.Random(f"texts for {variant}")
    for _ in range(2000):
        text = random_text(draw)
        assert tokenizer.record(text).ids == library_ids(tokenizer, text), ascii(text)


@pytest.mark.rare
def test_every_code_point_of_the_first_planes_and_some_of_the_rest(bundled):
    points = [chr(c) for c in (*range(0x20000), *range(0x20000, 0x110000, 61)) if not 0xD800 <= c < 0xE000]
    for start in range(0, len(points), 2048):
        text = " ".join(f"a{char}b" for char in points[start : start + 2048])
        assert bundled.tokenizer.record(text).ids == library_ids(bundled.tokenizer, text), hex(ord(points[start]))


def random_text(draw):
    """Letters, specials and characters of every plane, near each other."""
    fragments = ("[MASK]", "[CLS]", "[", "MASK]", " ", "##", "the", "ing", "\u0301", "\u0307", "\u200d", "[mask]", "I")

    def fragment():
        kind = draw.random()
        if kind < 0.3:
            return chr(draw.randrange(0x20, 0x7F))
        if kind < 0.5:
            return draw.choice(fragments)
        return any_character(draw, draw.choice((0x100, 0x300, 0x800, 0x3000, 0x10000, 0x20000, 0x110000)))

    return "".join(fragment() for _ in range(draw.randrange(1, 30)))


def any_character(draw, limit):
    point = draw.randrange(limit)
    return chr(point) if not 0xD800 <= point < 0xE000 else any_character(draw, limit)


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ("Café [MASK]\tÉ中!", ["Café [MASK] É中!", "Café [MASK] É 中 !", "Cafe [MASK] E 中 !", "cafe [MASK] e 中 !"]),
        ("[MASK] Is\x00", ["[MASK] Is", "[MASK] Is", "[MASK] Is", "[MASK] is"]),
        ("A[MASK]B", ["A[MASK]B", "A[MASK]B", "A[MASK]B", "a[MASK]b"]),
        ("[MASK]", ["[MASK]"] * 4),
        ("", [""] * 4),
    ],
)
def test_stages_are_the_whole_text_after_each_change(bundled, text, stages):
    record = bundled.tokenizer.record(text)
    assert [result for _, result in record.stages] == stages
    assert [name.split()[-1] for name, _ in record.stages] == ["plain", "characters", "off", "case"]


def test_stages_are_only_the_changes_that_the_checkpoint_makes(tokenizers):
    def names(variant):
        return [name for name, _ in tokenizers[variant].record("x").stages]

    assert not any("lower" in name or "accents" in name for name in names("cased"))
    assert any("accents" in name for name in names("cased, accents off"))
    assert not any("accents" in name for name in names("uncased, accents on"))
    assert not any("Chinese" in name for name in names("no Chinese handling"))


def test_special_tokens_that_eat_spaces_or_overlap(tmp_path):
    def edit(state):
        state["added_tokens"] += [
            added("<left>", 80, lstrip=True),
            added("<right>", 81, rstrip=True),
            added("<both>", 82, lstrip=True, rstrip=True),
            added("<both>s", 83),
            added("<é>", 84),
        ]

    tokenizer = edited(tmp_path, edit)
    texts = [
        "a  <left>  b",
        "a  <right>  b",
        "a\u00a0\u3000<both>\u2028\x85b",
        "<right>  <left>",
        "a <both>s b <both> s",
        "a\x1c<left>b",
        "<é> <e\u0301>",
        "<right>   ",
        "   <left>",
        "<right> [MASK] <both> [MASK]",
    ]
    draw = random.Random("special tokens")
    parts = ("<left>", "<right>", "<both>", "<é>", "[MASK]", " ", "\t", "\u3000", "a", "s", "<", "É", "\x1c", "\x85")
    texts += ["".join(draw.choices(parts, k=draw.randrange(1, 12))) for _ in range(1000)]
    for text in texts:
        assert tokenizer.record(text).ids == library_ids(tokenizer, text), ascii(text)
    assert tokenizer.record("a  <left>  b").stages[0][1] == "a<left>  b"


def test_no_record_where_the_rules_are_not_berts_but_the_librarys_ids_all_the_same(tmp_path):
    tokenizer = edited(tmp_path, lambda state: state["added_tokens"].append(added("cat", 63, normalized=True)))
    assert tokenizer.record("the cat") is None
    assert tokenizer.encode("the cat").ids == (2, 62, 63, 3)


def test_a_text_is_neither_cut_nor_filled_by_the_files_settings(tmp_path):
    def edit(state):
        state["truncation"] = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
        state["padding"] = {
            "strategy": {"Fixed": 20},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        }

    assert len(edited(tmp_path, edit).encode("the cat sat on the mat")) == 8


@pytest.mark.parametrize(
    ("setting", "second"), [({"split_special_tokens": True}, 1), ({"model_input_names": ["input_ids"]}, 0)], ids=str
)
def test_masks_do_not_depend_on_the_files_settings_and_segments_only_where_they_name_none(tmp_path, setting, second):
    shutil.copytree(BUNDLED_FOLDER, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.safetensors"))
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**settings, **setting}))
    encoding = load_tokenizer(tmp_path, 30522).encode("a [MASK]", "b", pad_to=8)
    assert encoding.tokens == ("[CLS]", "a", "[MASK]", "[SEP]", "b", "[SEP]", "[PAD]", "[PAD]")
    assert encoding.segments == (0, 0, 0, 0, second, second, 0, 0)
    assert encoding.mask == (1, 1, 1, 1, 1, 1, 0, 0)


def test_the_vocabulary_has_an_entry_for_every_row_of_the_model(tmp_path):
    tokenizer = edited(tmp_path, lambda state: None)
    assert tokenizer.vocabulary == (*VOCABULARY, *[""] * (101 - len(VOCABULARY)))
    assert (tokenizer.token(4), tokenizer.token(100)) == ("[MASK]", "")


@pytest.mark.parametrize("text", ["\u200b", "\x00\ufffd", "\u0301"])
def test_a_text_of_which_nothing_is_left_is_refused(bundled, text):
    with pytest.raises(bv.InputError, match="visible characters"):
        bundled.tokenizer.encode(text)
    assert bundled.tokenizer.record(text).words == ()


def test_a_text_of_special_tokens_alone_is_read(bundled):
    assert bundled.tokenizer.encode("[CLS]").ids == (101, 101, 102)


@pytest.mark.parametrize("read", ["encode", "record"])
def test_half_a_character_is_refused(bundled, read):
    with pytest.raises(bv.InputError, match="lone surrogate"):
        getattr(bundled.tokenizer, read)("a\ud83db")


def test_tokens_are_found_in_the_text_and_in_its_pair(bundled):
    text, pair = "Unbelievably, [MASK] ate  in Rome", "Café!"
    places, tokens = bundled.tokenizer.locate(text, pair), bundled.tokenizer.encode(text, pair).tokens
    assert [place is None for place in places] == [token in ("[CLS]", "[SEP]") for token in tokens]
    for place, token in zip(places, tokens, strict=True):
        if place is not None:
            part, first, last = place
            letters = (text, pair)[part][first:last]
            assert letters.lower().replace("é", "e") == token.removeprefix("##").lower()
    assert {place[0] for place in places if place} == {0, 1}
