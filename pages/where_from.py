"""Where from: what each token carried to a number, and what becomes of the number when the token is hidden."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import where_from

view = open_page(
    "where_from",
    "Left: what each token carried; with what came from none, such as biases, it adds up. Right: what the answer is "
    "with it hidden.",
    where_from.write_headline,
)
where_from.show(view)
