"""How the bundled checkpoint is made and measured: `python -m training`. The app does not need it."""
