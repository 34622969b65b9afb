"""A page with one of everything that the listener knows; what it sends is remembered and shown."""

import json
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.figures.bars import draw_bars, draw_curve
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.palette import choose_palette
from bertviz_core.ui.components.colors import list_colors
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.frame.chart import show_chart

st.set_page_config(layout="wide")
colors = choose_palette(st.context.theme.type)
TOKENS = ("[CLS]", "when", "in", "rome", "<b>do</b>", "[SEP]")
SIZE, HIDDEN = len(TOKENS), 8
PROBS = "encoder.layer.1.attention.self.probs[head=2,query={y},key={x}]"
VECTORS = [f"encoder.layer.1.attention.self.value[head=2,key={i},head_dim={{x}}]" for i in range(SIZE)]
POINTS = [f"encoder.layer.1.intermediate.activation[token=3,intermediate={i}]" for i in (40, 7, 21)]
names = [f"{i} {token}" for i, token in enumerate(TOKENS)]
numbers = np.random.default_rng(0)
shares = numbers.dirichlet(np.ones(SIZE), SIZE)
events = st.session_state.setdefault("events", [])
cell = st.session_state.get("cell", st.query_params.get("cell"))
chosen = st.session_state.get("token", 3)
listen = load_component("listener", isolated=False)


def sent(name):
    def take():
        value = st.session_state["listener"][name]
        events.append([name, value])
        if name in ("cell", "step", "keep", "close"):
            st.session_state["cell"] = {"close": None, "keep": "a.b[token=0]"}.get(name, value)

        if name == "token":
            st.session_state["token"] = value

    return take


def place(text):
    return st.html(f'<div style="height:{text}px"></div>')


listen(
    key="listener",
    data={
        "cell": cell, "operands": [f"encoder.layer.1.attention.self.probs[head=2,query=1,key={i}]" for i in range(2)],
        "token": chosen, "caption": {"checkpoint": "a checkpoint", "sentence": "When in <Rome> & do"},
        "colors": list_colors(colors), "kept": {"session": "", "trained": False, "told": False},
    },
    **{f"on_{name}_change": sent(name)
       for name in ("cell", "step", "keep", "close", "head", "story", "token", "choose")},
)  # fmt: skip
st.title("Trial")
chips = "".join(
    f'<button data-token="{i}" tabindex="{(i == chosen) - 1}" aria-pressed="{i == chosen}">{escape(token)}</button>'
    for i, token in enumerate(TOKENS)
)
st.html(
    f'<div id="chips" data-roving>{chips}</div><button data-head="1,2">head</button>'
    '<button data-cell="a.b[token=1]">cell</button><button data-copy="some text">copy</button>'
    '<button data-copy="link">link</button>'
)
with st.popover("Menu"):
    st.text_input("Field")
with st.container(key="panel-weights"):
    st.html(
        '<div class="bv-panel-title"><b>Who attends to whom</b></div>'
        '<button data-save="svg" data-address="encoder.layer.1.attention.self.probs[head=2]">SVG</button>'
        '<button data-save="png" data-address="encoder.layer.1.attention.self.probs[head=2]">PNG</button>'
    )
    words = Side("query", names), Side("key", names)
    show_chart(
        draw_heatmap(shares, *words, colors, "attention", share=True).offer(PROBS), "weights", "Attention weights"
    )
bars = draw_bars(shares[1], names, colors, colors.kinds["attention"], name="weight")
show_chart(bars.offer([PROBS.format(y=1, x=i) for i in range(SIZE)]), "bars", "Attention weights of one query")
place(900)
vectors = numbers.standard_normal((SIZE, HIDDEN))
vectors[5, :4] = 0.000512, -7.577e-05, 0.0, 23.456789
map_of_vectors = draw_heatmap(vectors, Side("key", names), Side("head_dim"), colors, "query")
show_chart(map_of_vectors.offer(VECTORS), "vectors", "Values")
x = np.linspace(-2, 2, 9)
at = np.array([1.5, -1.0, 0.25])
show_chart(draw_curve(x, x**3, at, at**3, colors, colors.kinds["ffn"]).offer(POINTS), "points", "Neurons")
if cell:
    with st.container(key="drawer"):
        st.html(
            "<style>.st-key-drawer { position: fixed; right: 0; top: 76px; bottom: 0; width: 420px; z-index: 99;"
            "background: Canvas; overflow: auto } @media (max-width: 640px) { .st-key-drawer {"
            f"top: 40%; width: 100% }} }}</style><h2 id='bv-drawer-title' tabindex='-1'>{escape(cell)}</h2>"
            f'<button data-keep="1">crumb</button><button data-close="true">Close</button>'
            f'<table><tr><td><button data-step="{escape(cell)}x">first</button></td></tr>'
            '<tr><td><button data-step="other">second</button></td></tr></table>'
        )
        st.text_input("Another number")
st.html(f'<pre id="events">{escape(json.dumps(events))}</pre>')
