"""What the drawer's file holds: every operand with every digit, and amounts that add up to the number."""

import csv
import io

import numpy as np
import pytest

from bertviz_core.ui.frame.told import Told
from bertviz_core.ui.walk.explain import work_out
from bertviz_core.ui.walk.table_file import write_table, write_told
from tests.canvas import look

QUERY = "encoder.layer.2.attention.self.query"


def read(written):
    return list(csv.reader(io.StringIO(written.decode())))


def test_all_products_of_a_query_with_every_digit(rome):
    cell = f"{QUERY}[head=0,query=8,head_dim=30]"
    head, *lines, bias, own = read(write_table(work_out(look(rome), cell)))
    assert head == ["operand", "value", "operand", "value", "term"]
    x = rome["encoder.layer.1.output.LayerNorm[token=8]"]
    weights = rome[f"{QUERY}.weight[concat=30]"]
    assert [line[0] for line in lines] == [f"encoder.layer.1.output.LayerNorm[token=8,hidden={i}]" for i in range(384)]
    assert np.array_equal([[float(line[1]), float(line[3])] for line in lines], np.stack([x, weights], axis=1))
    assert bias[0] == f"{QUERY}.bias[concat=30]" and float(bias[1]) == rome[bias[0]].item()
    total = sum(float(line[4]) for line in (*lines, bias))
    assert own == [cell, str(rome[cell].item())] and total == pytest.approx(rome[cell].item(), abs=1e-5)


def test_what_is_in_every_part_stands_below_them(rome):
    cell = "embeddings.LayerNorm.variance[token=8]"
    *_, mean, own = read(write_table(work_out(look(rome), cell)))
    assert mean[0] == "embeddings.LayerNorm.mean[token=8]" and own[0] == cell


def test_a_parameter_is_alone(rome):
    cell = "embeddings.LayerNorm.weight[hidden=3]"
    assert read(write_table(work_out(look(rome), cell)))[1:] == [[cell, str(rome[cell].item())]]


def test_what_is_in_no_pass_is_written_as_it_is_told():
    told = Told("J of step 1", "prediction", "2.0000", "", (), [("\N{MINUS SIGN}log P", "2.0000", "J.term[step=1]")])
    assert read(write_told(told, "J[step=1]"))[1:] == [
        ["\N{MINUS SIGN}log P", "2.0000", "J.term[step=1]"],
        ["J of step 1", "2.0000", "J[step=1]"],
    ]
