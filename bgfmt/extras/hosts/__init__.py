"""Ways in which other backgammon programs reach the tables."""
