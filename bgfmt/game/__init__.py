"""The game: board, moves, orders of the positions, drawing, identifiers, and the state of a game."""
