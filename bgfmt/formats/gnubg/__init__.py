"""GNU Backgammon's databases."""
