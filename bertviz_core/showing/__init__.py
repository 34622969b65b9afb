"""What a trace, an explanation and a chart show of themselves outside of the app: in a notebook, in a file."""

from bertviz_core.formula.shown import tell_how
from bertviz_core.showing.explained import write_explanation
from bertviz_core.showing.figures import show_figure
from bertviz_core.showing.live import Live, show_pass
from bertviz_core.showing.traces import write_trace

__all__ = ["Live", "show_pass"]

tell_how(trace=write_trace, explanation=write_explanation, figure=show_figure)
