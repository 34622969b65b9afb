"""Forward passes written as programs of expressions."""
