"""GNU Backgammon's own files."""
