"""What stands on every page: the view, the controls, the what-if, the style."""
