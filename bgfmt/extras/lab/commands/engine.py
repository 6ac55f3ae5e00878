"""`bgfmt engine`: engines that play the whole game, at the terminal, against themselves, in series."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.cli import options

MODES = ("play", "referee", "self", "series", "replay", "explain", "bearoff")


@click.command()
@click.argument("name", metavar="ENGINE")
@click.argument("words", nargs=-1, metavar="[MODE] [WORD...]")
@click.option(
    "-O", "pairs", multiple=True, metavar="KEY=VALUE", help="The engine's own options, such as scale=1."
)
@click.option(
    "--against", metavar="ENGINE", help="The other player (play: a person; self, series: the engine)."
)
@options.number("--games", least=1, most=10_000_000, help="How many (series: 1000, else 1).")
@options.number("--match", "length", least=1, most=64, help="A match of this many points, not money games.")
@click.option("--position", help="Where games start; the side on roll stands first and is player 1.")
@click.option("--seed", type=int, help="Of the dice (series: 1, else the system's).")
@click.option("--dice", metavar="FILE|-", help="Rolls from a file, or asked for one by one.")
@click.option("--cube/--no-cube", default=None, help="Play with the cube (series: without).")
@click.option("--doubling", is_flag=True, help="Ask a person about doubling before each roll.")
@click.option("--second", is_flag=True, help="A person is player 2; replay: only player 2's turns.")
@click.option("-o", "--output", type=click.Path(), help="Write the games: .sgf or .mat.")
@click.option("--quiet", is_flag=True, help="self: say results only.")
@options.threads_option
@options.force_option
@options.json_option
def engine(name: str, words: tuple[str, ...], **choices: Any) -> int:
    """Play against an engine, or watch and measure it. bkg is Berliner's program of 1977.

    \b
    play               against a person (the default): the board is drawn, legal plays are listed
    referee            between two persons
    self               against itself or --against another, each play shown
    series             many games: wins, gammons, points a game, standard error
    replay [FILE]      a recorded game, and what the engine would have played (bkg: the paper's game)
    explain POSITION [ROLL]   what the engine goes by
    bearoff            bkg: what its rules for the bear-off cost against exact play

    \b
    Examples:
      bgfmt engine bkg
      bgfmt engine bkg series --games 10000 --seed 1 --position "3 3 3 2 2 2 / 3 3 3 2 2 2"
      bgfmt engine bkg self --games 3 --seed 7 -o games.sgf
      bgfmt engine bkg replay
      bgfmt engine bkg explain 4PPgASHgc/ABMA 65
    """
    from bgfmt.extras.lab.commands import engine_modes

    mode = words[0] if words and words[0] in MODES else "play"
    rest = words[1:] if words and words[0] in MODES else words
    if rest and mode not in ("replay", "explain"):
        raise click.UsageError(f"{rest[0]!r}: modes are {', '.join(MODES)}")
    return engine_modes.run(engine_modes.Request(name=name, mode=mode, words=rest, **choices))
