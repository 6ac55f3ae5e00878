"""`bgfmt cube`: to double or not, to take or to pass."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.cli import _asking, options


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="DB... POSITION")
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Draw the cube actions of all positions with as many chequers into FILE.",
)
@click.option("--no-settle", is_flag=True, help="Do not calculate exactly what the table leaves too close.")
@options.as_option
@options.part_option
@options.json_option
def cube(
    words: tuple[str, ...],
    plot: str | None,
    no_settle: bool,
    described: str | None,
    part: int | None,
    as_json: bool,
) -> None:
    """The cube action of POSITION, with the cube in the middle and with the side on roll owning it.

    POSITION is two sides, the one on roll first, as counts from the ace point up or any identifier. Equities are
    those of rolling without doubling; a decision closer than the table can err is calculated exactly.

    \b
    Example:
      bgfmt cube gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0"
    """
    from bgfmt.analysis import choose
    from bgfmt.analysis.approximate import twosided_from_onesided
    from bgfmt.analysis.cube import LABELS, judge_cube, label_of

    paths, text, _ = _asking.split(words)
    position = _asking.both(text)
    with _asking.opened(paths, described, part) as databases:
        choose.check_race(position)
        table = choose.two_sided_for(databases, position)
        estimate = None if table is not None else twosided_from_onesided(databases, position)
        answer: Any = estimate if table is None else choose.equities(table, position)
        cubeful = table is None or table.cubeful
        settle = not no_settle
        actions = (
            {
                owner: judge_cube(databases, owner, position=position, settle=settle)
                for owner in ("centered", "owned")
            }
            if cubeful
            else {}
        )
        label = label_of(actions["centered"], actions["owned"]) if actions else None
        if plot:
            from bgfmt import plots

            plots.cube_chart(plot, databases, position)
    if as_json:
        out = answer.as_dict() | {"approximate": table is None}
        out |= {owner + "_cube": action for owner, action in actions.items()}
        options.echo_json(out | ({"label": label, "label_text": LABELS[label]} if label else {}))
        return
    click.echo(_asking.board_of(position))
    click.echo(
        f"\nOn roll {position.us} ({position.us.pips} pips), other side {position.them} ({position.them.pips} pips)"
    )
    about = "approximately " if table is None else ""
    click.echo(f"  win {about}{_asking.percent(answer.win).strip()}")
    if estimate is not None:
        click.echo(f"  cubeless {estimate.cubeless:+.4f}, cube actions by Janowski's formula: approximate")
    else:
        columns = [f"{c} {getattr(answer, c):+.4f}" for c in choose.COLUMNS if getattr(answer, c) is not None]
        click.echo("  equity of rolling without doubling: " + ", ".join(columns))
    if not cubeful:
        click.echo("  the table holds cubeless equities only, so it says nothing of the cube")
    for owner, action in actions.items():
        word = "redouble" if owner == "owned" else "double"
        click.echo(f"\n{'Centered cube' if owner == 'centered' else 'Own cube'}: {action.action}")
        for name, value in (
            (f"no {word}", action.no_double),
            (f"{word}, take", action.double_take),
            (f"{word}, pass", action.double_pass),
        ):
            best = "   <" if abs(value - action.best) < 1e-12 else ""
            click.echo(f"  {name:<16} {value:+8.4f}{best}")
        gain = f"doubling {'gains' if action.double_margin >= 0 else 'costs'} {abs(action.double_margin):.4f}"
        take = f"taking {'gains' if action.take_margin >= 0 else 'costs'} {abs(action.take_margin):.4f}"
        click.echo(f"  {gain}, {take}; {action.certainty}{' (calculated exactly)' if action.settled else ''}")
