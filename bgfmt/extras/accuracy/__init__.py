"""How far the numbers of a table are from the exact ones: measured, and bounded by a proof."""
