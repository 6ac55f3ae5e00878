"""A position as a board in text, for findings."""

from __future__ import annotations

from bgfmt.board import Side


def board_of(us: Side, them: Side | None = None) -> str:
    """The chequers of one or two sides, point by point; `X` is on roll."""
    try:
        from bgfmt import drawing

        if them is not None and hasattr(drawing, "draw"):
            from bgfmt.board import Position

            return str(drawing.draw(Position(us, them)))
    except Exception:  # no drawing of that kind of position: the plain rows below say the same
        pass
    width = max(6, us.highest, them.highest if them is not None else 0)
    lines = ["point  " + "".join(f"{point:>3}" for point in range(width, 0, -1))]
    for name, side in (("X", us), ("O", them)):
        if side is not None:
            counts = tuple(side.counts) + (0,) * (width - len(side.counts))
            row = "".join(f"{count or '.':>3}" for count in reversed(counts))
            lines.append(f"{name:<7}{row}" + (f"  bar {side.bar}" if side.bar else ""))
    return "\n".join(lines)
