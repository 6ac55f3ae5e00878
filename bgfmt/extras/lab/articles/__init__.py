"""Systems of the articles that this project started from."""
