"""Where from: what each token carried to a number, and what becomes of the number when the token is hidden."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import where_from, where_from_methods, where_from_written

view = open_page(
    "where_from",
    "A logit is taken apart into one part for each token and one for all biases, which add up; hiding a token asks "
    "another question.",
    where_from.write_headline,
)
if where_from.show_carried(view):
    where_from_written.show_written(view)
    where_from_methods.show_others(view)
