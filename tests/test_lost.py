"""A URL that names a page which there is not: it says so, and offers the page that may be meant."""

import pytest

from bertviz_core.ui.frame import site
from tests.browser import visit


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("atention", "Attention"),
        ("Feed-Forward", "Feed-forward"),
        ("query_key_values", "Query, key, value"),
        ("attention/2", "Attention"),
        ("zzzz", None),
    ],
)
def test_the_page_that_is_spelled_like_it_is_found(monkeypatch, asked, meant):
    monkeypatch.setattr(site, "read_asked_page", lambda: asked)
    name, info = site.find_lost()
    assert name == asked and (info.title if info else None) == meant


@pytest.mark.parametrize("asked", ["", "attention", "overview"])
def test_a_page_that_there_is_is_not_lost(monkeypatch, asked):
    monkeypatch.setattr(site, "read_asked_page", lambda: asked)
    assert site.find_lost() == ("", None)


@pytest.mark.rare
def test_an_address_of_no_page_says_so_in_the_page_and_keeps_the_choice(chromium, server):
    with visit(chromium, server) as app:
        app.open("atention", layer=3)
        assert "There is no page “atention”" in app.find(":--alert").inner_text()
        assert app.find('[role="dialog"]').count() == 0
        with app.rerun():
            app.find(":--page-link").get_by_role("link", name="Open Attention").click()
            app.wait_for_title("Attention")
        assert app.query["layer"] == "3" and app.chosen()[0] == "Layer 3"
        assert app.find(":--alert").count() == 0
