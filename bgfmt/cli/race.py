"""`bgfmt race`: what one side needs to bear off."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.cli import _asking, options
from bgfmt.game.board import Position
from bgfmt.lookup import Race


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="DB... POSITION")
@click.option(
    "--plot", metavar="FILE", type=click.Path(dir_okay=False), help="Draw the distribution into FILE."
)
@options.as_option
@options.part_option
@options.json_option
def race(
    words: tuple[str, ...], plot: str | None, described: str | None, part: int | None, as_json: bool
) -> None:
    """Rolls to bear off, effective pips and wastage of a side, by the best of the databases.

    POSITION is counts from the ace point up, or any identifier. With two sides, both are described, and the
    chances to win are estimated from their distributions.

    \b
    Example:
      bgfmt race gnubg_os0.bd 0 2 2 2 0 4
    """
    from bgfmt.analysis import races
    from bgfmt.analysis.approximate import twosided_from_onesided
    from bgfmt.errors import NotCoveredError

    paths, text, _ = _asking.split(words)
    asked = _asking.one_or_two(text)
    with _asking.opened(paths, described, part) as databases:
        two = isinstance(asked, Position)
        sides = (
            {"on roll": asked.us, "other side": asked.them} if isinstance(asked, Position) else {"": asked}
        )
        answers = {who: races.race(databases, side) for who, side in sides.items()}
        estimate = None
        if isinstance(asked, Position):
            try:
                estimate = twosided_from_onesided(databases, asked)
            except NotCoveredError:
                estimate = None  # means alone do not give chances
        if plot:
            from bgfmt import plots

            drawn = {f"{a.side}": a.bearoff for a in answers.values() if isinstance(a, Race)}
            if not drawn:
                raise NotCoveredError("only means are known of this side, there is no distribution to draw")
            plots.distributions(plot, drawn)
    if as_json:
        if two:
            out: dict[str, Any] = {who.replace(" ", "_"): races.summary(a) for who, a in answers.items()}
            options.echo_json(out | {"two_sided": estimate})
        else:
            options.echo_json(races.summary(answers[""]))
        return
    click.echo(_asking.board_of(asked))
    for who, answer in answers.items():
        click.echo(f"\n{who.capitalize() + ': ' if who else ''}{answer.side}")
        for line in describe(answer):
            click.echo(line)
    if estimate is not None:
        click.echo("\nThe side on roll, approximately (each side playing alone):")
        click.echo(f"  win         {_asking.percent(estimate.win)}")
        for name, value in (("win gammon", estimate.win_gammon), ("lose gammon", estimate.lose_gammon)):
            click.echo(
                f"  {name:<11} {'not known: no gammon data' if value is None else _asking.percent(value)}"
            )
        click.echo(
            f"  the win chance errs by {100 * estimate.worst_error:.2f} % at most, "
            f"{100 * estimate.mean_error:.3f} % on average (six chequers a side or fewer)"
        )


def describe(answer: Any) -> list[str]:
    """A race as lines of text."""
    from bgfmt.analysis.races import within

    lines = [f"  pips        {answer.pips:8d}", f"  mean rolls  {answer.mean_rolls:12.5f}"]
    if answer.std_rolls is not None:
        lines.append(f"  std dev     {answer.std_rolls:12.5f}")
    lines += [f"  EPC         {answer.epc:12.3f}", f"  wastage     {answer.wastage:12.3f}"]
    if answer.gammon_mean_rolls:
        lines.append(f"  first off   {answer.gammon_mean_rolls:12.5f}   (mean rolls to save the gammon)")
    if not isinstance(answer, Race):
        return lines
    off = within(answer.bearoff)
    full = answer.gammon is not None and answer.side.chequers == 15
    saved = within(answer.gammon) if full else None
    lines.append("  rolls     exactly      off within" + ("  gammon saved" if saved is not None else ""))
    some = [i for i, chance in enumerate(answer.bearoff) if chance > 0]
    first = 0 if saved is not None else some[0]
    for i in range(first, some[-1] + 1):
        more = f"    {_asking.percent(saved[i])}" if saved is not None else ""
        lines.append(f"  {i:5d}  {_asking.percent(answer.bearoff[i])}    {_asking.percent(off[i])}{more}")
    return lines
