"""The systems of the articles the project started from."""
