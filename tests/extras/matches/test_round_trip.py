"""Games made by chance, written and read again: every form has what was played."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bgfmt.extras.matches import Match, read
from bgfmt.extras.matches.mat import write_mat
from bgfmt.extras.matches.model import Record, Rules, check_results, outcome
from bgfmt.extras.matches.sgf import write_sgf
from bgfmt.extras.matches.walk import GameWalk
from bgfmt.game.moves import legal_plays


def game(source: random.Random, length: int, scores: tuple[int, int], number: int, plies: int) -> GameWalk:
    """A game of legal plays and whatever the cube allows, cut off after `plies` plies."""
    match = Match(("Ann", "Bob"), length, rules=Rules(jacoby=None if length else False))
    walk = GameWalk(match, number=number, scores=scores)
    player = source.randrange(2)
    for at in range(plies):
        walk.at = at
        if walk.over:
            break
        mine = walk.owner in (None, player)
        if at and mine and walk.cube < 32 and source.random() < 0.06:
            walk.double(player)
            while source.random() < 0.3 and len(walk.offers) < 4 and not length:
                walk.double(1 - walk.offers[-1])
            answer = 1 - walk.offers[-1]
            if source.random() < 0.3:
                walk.drop(answer)
                break
            walk.take(answer)
        dice = (source.randint(1, 6), source.randint(1, 6))
        plays = legal_plays(walk.position(player), *dice)
        play = source.choice(plays) if plays else None
        walk.roll(player, dice, [(m.start, m.end) for m in play.moves] if play else [])
        if play:
            made = walk.records[-1]
            assert made.legal
            assert made.after == play.result
        player = 1 - player
    return walk


def essence(match: Match) -> list[list[tuple[object, ...]]]:
    def of(r: Record) -> tuple[object, ...]:
        return (r.kind, r.player, r.turn, r.position, r.cube, r.owner, r.dice, r.after, r.legal)

    return [[of(r) for r in g.records] for g in match.games]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([0, 5, 13]), st.integers(2, 150))
def test_games_by_chance(seed: int, length: int, plies: int) -> None:
    source = random.Random(seed)
    walks = []
    scores = (0, 0)
    for number in (1, 2):
        walk = game(source, length, scores, number, plies)
        walks.append(walk.finish())
        found = outcome(walks[-1])
        if found is None or (length and scores[found[0]] + found[1] >= length - 1):
            break
        won = [scores[0], scores[1]]
        won[found[0]] += found[1]
        scores = (won[0], won[1])
    match = check_results(
        Match(("Ann", "Bob"), length, tuple(walks), Rules(jacoby=None if length else False))
    )
    assert match.problems == ()
    for written in (write_sgf(match), write_mat(match).encode()):
        (again,) = read(written)
        assert essence(again) == essence(match)
        assert again.problems == ()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_every_legal_play_is_found_from_its_words(seed: int) -> None:
    """Whatever way a play is written, chequer by chequer or merged where nothing is hit, the board is the same."""
    source = random.Random(seed)
    walk = game(source, 0, (0, 0), 1, source.randint(1, 80))
    position = walk.position(0)
    if not position.us.chequers or not position.them.chequers:
        return
    for dice in ((6, 5), (3, 1), (2, 2), (6, 6)):
        for play in legal_plays(position, *dice):
            hops = [(m.start, m.end) for m in play.moves]
            source.shuffle(hops)
            other = GameWalk(Match(("a", "b")))
            other.begin(position)
            other.roll(0, dice, hops, marks=sum(m.hit for m in play.moves))
            (record,) = other.finish().records
            assert record.legal
            assert record.after == play.result
            assert other.problems == []
