"""GNU Backgammon's Position ID (14 characters), Match ID (12) and the two joined by a colon, the GNUbg ID.

Position ID: 80 bits, the opponent of the side on roll first; each side as, for points 1 to 24 and the bar, as many
ones as chequers and a zero. Bits fill ten bytes from the least significant; base64 without padding.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.errors import PositionError
from bgfmt.game.board import Position
from bgfmt.game.state import START, Ended, GameState, as_state, counts_with_bar, side_from_counts

_Bits = tuple[NDArray[np.uint64], NDArray[np.uint64]]
#: how a game has ended, by the game state of a Match ID: 1 is a game being played, 0 none
_ENDED: dict[int, Ended] = {2: "over", 3: "resigned", 4: "passed"}
_PLAYING = 1


def _decode(text: str, size: int, what: str) -> int:
    """Decode unpadded base64 to one number, first bit least significant; `what` names the identifier in errors."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise PositionError(f"{text[:40]!r}: a {what} may only have letters, digits, + and /") from None
    if len(data) != size or base64.b64encode(data).decode().rstrip("=") != text:
        raise PositionError(f"{text[:40]!r}: not a {what}")
    return int.from_bytes(data, "little")


def position_key(position: Position) -> bytes:
    """Return the ten bytes of a position that gnubg calls its key, and encodes as Position ID."""
    bits = "".join(
        "1" * count + "0" for count in (*counts_with_bar(position.them), *counts_with_bar(position.us))
    )
    return int(bits[::-1], 2).to_bytes(10, "little")


def from_position_key(key: bytes) -> Position:
    """Decode gnubg's ten-byte key of a position; PositionError for bits that no legal position has."""
    bits = f"{int.from_bytes(key, 'little'):080b}"[::-1]
    counts = [len(ones) for ones in bits.split("0")]
    them = counts[:25]
    us = counts[25:50]
    beyond = counts[50:]
    for side in (them, us):
        if sum(side) > 15:
            raise PositionError(f"key {key.hex()}: a side of {sum(side)} chequers")
    if any(beyond):
        raise PositionError(f"key {key.hex()}: bits are set after the second side")
    return Position(side_from_counts(us), side_from_counts(them)).check()


def key_letters(position: Position) -> str:
    """Format gnubg's ten-byte key of a position as twenty letters A to P, two a byte, as gnubg-nn writes it."""
    return "".join(chr(65 + nibble) for byte in position_key(position) for nibble in (byte >> 4, byte & 15))


def from_key_letters(text: str) -> Position:
    """Parse a position key written as twenty letters A to P (see `key_letters`); PositionError for any other text."""
    if len(text) != 20 or any(not "A" <= letter <= "P" for letter in text):
        raise PositionError(f"{text[:40]!r}: a position key must have twenty letters from A to P")
    nibbles = [ord(letter) - 65 for letter in text]
    return from_position_key(bytes(a << 4 | b for a, b in zip(nibbles[::2], nibbles[1::2], strict=True)))


def position_id(position: Position) -> str:
    """Return gnubg's Position ID, 14 characters."""
    return base64.b64encode(position_key(position)).decode()[:14]


def from_position_id(text: str) -> Position:
    """Parse a Position ID (14 characters), the side on roll first; PositionError if it is damaged."""
    if len(text) != 14:
        raise PositionError(f"{text[:40]!r}: the Position ID has {len(text)} of 14 characters")
    return from_position_key(_decode(text, 10, "Position ID").to_bytes(10, "little"))


def match_id(position: GameState | Position) -> str:
    """Return gnubg's Match ID, 12 characters: score, cube, dice and pending offers; no chequers.

    It does not hold beavers and the limit of the cube. A `Position` counts as money play with a centered cube.
    """
    state = as_state(position)
    decision = _decides(state)
    game = next((number for number, ended in _ENDED.items() if ended == state.ended), _PLAYING)
    high, low = (max(state.dice), min(state.dice)) if state.dice else (0, 0)
    owner = 3 if state.cube_owner is None else state.cube_owner
    fields = (
        (min(state.cube_power, 15), 4), (owner, 2), (state.turn, 1), (state.crawford, 1), (game, 3),
        (decision, 1), (state.doubled, 1), (state.resigned, 2), (high, 3), (low, 3),
        (state.length, 15), (state.scores[0], 15), (state.scores[1], 15), (not state.jacoby, 1),
    )  # fmt: skip
    bits = at = 0
    for value, size in fields:
        bits |= (int(value) & ((1 << size) - 1)) << at
        at += size
    return base64.b64encode(bits.to_bytes(9, "little")).decode()


def _decides(state: GameState) -> int:
    """Return the player who is to act: the other one while a double or a resignation is pending."""
    return 1 - state.turn if state.doubled or state.resigned else state.turn


def gnubg_id(position: GameState | Position) -> str:
    """Return gnubg's Position ID and Match ID joined by a colon."""
    state = as_state(position)
    return f"{position_id(state.position)}:{match_id(state)}"


def from_gnubg_id(text: str) -> GameState:
    """Parse "Position ID:Match ID", or a Position ID alone (player 1 on roll, money); PositionError if damaged."""
    first, colon, second = text.partition(":")
    position = from_position_id(first)
    return from_match_id(second, position) if colon else GameState.of(position)


def from_match_id(text: str, position: Position | None = None) -> GameState:
    """Parse a Match ID (12 characters); PositionError if it is damaged.

    position : the chequers, which a Match ID does not hold; by default those of the start of a game.
    """
    if len(text) != 12:
        raise PositionError(f"{text[:40]!r}: the Match ID has {len(text)} of 12 characters")
    bits = _decode(text, 9, "Match ID")

    def field(at: int, size: int) -> int:
        return bits >> at & ((1 << size) - 1)

    owner = field(4, 2)
    turn = field(6, 1)
    dice = (field(15, 3), field(18, 3))
    game = field(8, 3)
    if owner == 2 or max(dice) > 6 or (0 in dice and dice != (0, 0)) or field(67, 5):
        raise PositionError(f"{text!r}: not a Match ID (cube owner {owner}, dice {dice[0]} and {dice[1]})")
    us, them = (START, START) if position is None else (position.us, position.them)
    state = GameState(
        (them, us) if turn == 1 else (us, them),
        turn=turn,
        cube_value=1 << field(0, 4),
        cube_owner=None if owner == 3 else owner,
        dice=dice if dice[0] else None,
        doubled=bool(field(12, 1)),
        resigned=field(13, 2),
        scores=(field(36, 15), field(51, 15)),
        length=field(21, 15),
        crawford=bool(field(7, 1)),
        jacoby=not field(66, 1),
        ended=_ENDED.get(game, ""),
    )
    notes = [] if game else ["no game is being played"]
    if game > max(_ENDED):
        notes.append(f"game state {game}")
    if field(11, 1) != _decides(state):
        notes.append(f"player {field(11, 1)} is to decide")
    return state.noted(*notes)


# -- many at once ----------------------------------------------------------------------------------------


def position_ids(counts: ArrayLike) -> NDArray[np.bytes_]:
    """Format many Position IDs.

    counts : integers of shape (N, 2, 25): for the side on roll, then the other, the chequers on points 1..24 and the
    bar. Returns bytes strings of shape (N,), 14 characters each.
    """
    rows = np.asarray(counts)
    if rows.ndim != 3 or rows.shape[1:] != (2, 25) or rows.dtype.kind not in "iu":
        raise PositionError(f"counts must be integers of shape (N, 2, 25), not {rows.shape}")
    if rows.size and (rows.min() < 0 or rows.sum(axis=2).max() > 15):
        raise PositionError("a side must have 0 to 15 chequers")
    letters = _texts(_side_bits(rows[:, 0]), _side_bits(rows[:, 1]))
    return np.ascontiguousarray(letters).view("S14")[:, 0]


def write_pair_ids(us: NDArray[Any], them: NDArray[Any], out: NDArray[np.uint8]) -> None:
    """Write the Position IDs of all pairs of sides into the last 14 columns of `out`.

    us, them : counts of the sides on roll (a, points) and of the others (b, points). out : uint8 of shape (a * b, at
    least 14); row i * b + j receives the pair of us[i] and them[j].
    """
    ours, sizes = _side_bits(us)
    out[:, -14:] = _texts((ours[:, None], sizes), _side_bits(them)).reshape(-1, 14)


def _texts(us: _Bits, them: _Bits) -> NDArray[np.uint8]:
    """Return the letters (..., 14) of Position IDs, from the bits of both sides."""
    (ours, _) = us
    (theirs, sizes) = them
    words = np.stack([theirs | ours << sizes, ours >> 64 - sizes], axis=-1).astype("<u8", copy=False)
    text = base64.b64encode(words.view(np.uint8)[..., :12].tobytes())
    return np.frombuffer(text, np.uint8).reshape(*words.shape[:-1], 16)[..., :14]


def _side_bits(counts: NDArray[Any]) -> _Bits:
    """Return the bits of sides in a Position ID, 25 to 40 each, and their number; counts have shape (n, up to 25)."""
    rows = np.asarray(counts, np.uint64)
    bits = np.zeros(len(rows), np.uint64)
    at = np.zeros(len(rows), np.uint64)
    for count in rows.T:
        bits |= ((1 << count) - 1) << at
        at += count + 1
    return bits, at + (25 - rows.shape[1])


def from_position_ids(texts: Any) -> NDArray[np.int8]:
    """Parse many Position IDs to counts (N, 2, 25) int8: side on roll first; points 1..24 and the bar.

    texts : text or bytes, 14 characters each. PositionError names the first invalid one.
    """
    names = np.asarray(texts).reshape(-1).tolist()
    counts = np.zeros((len(names), 2, 25), np.int8)
    for row, name in enumerate(names):
        text = name.decode("ascii", "replace") if isinstance(name, bytes) else name
        try:
            position = from_position_id(text)
        except PositionError:
            raise PositionError(f"row {row}: {text!r} is not a Position ID") from None
        for side, out in zip((position.us, position.them), counts[row], strict=True):
            out[:] = side.padded(25)
    return counts
