"""What is read out of a trace: numbers that no step computes, worked out from recorded ones."""
