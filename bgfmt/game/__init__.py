"""The game: board, moves, drawing, identifiers, the state of a game, and Peelle's order of positions."""

from bgfmt.game import display, identifiers, notations

__all__: list[str] = []

notations.register(
    parse=identifiers.parse,
    parse_position=identifiers.parse_position,
    parse_side=identifiers.parse_side,
    position_id=identifiers.position_id,
    gnubg_id=identifiers.gnubg_id,
    xgid=identifiers.xgid,
    picture=display.picture,
)
