"""Reads and writes GNU Backgammon's .sgf matches, and puts comments into such files.

Points are letters: White (player 0) counts its own ace point as `a`, Black (player 1) counts it as `x`; `y` is the
bar, `z` is off. A node is `;` and properties such as `B[31hefe]`, `W[double]`, `CV[2]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from bgfmt.errors import FormatError, PositionError
from bgfmt.extras.matches import model
from bgfmt.extras.matches.model import Game, Match, Record, Result, Rules, ending, is_cube
from bgfmt.extras.matches.plays import Hop
from bgfmt.extras.matches.walk import GameWalk, finish_match
from bgfmt.game.board import Position
from bgfmt.game.drawing import decode_text
from bgfmt.game.moves import BAR, OFF, Counts, Move
from bgfmt.game.state import side_from_counts

NAME = "sgf"
_VALUE = re.compile(rb"\[((?:[^\]\\]++|\\.)*+)\]", re.S)
_TOKEN = re.compile(rb"\s*+(?:([();])|([A-Za-z]++)((?:\s*+\[(?:[^\]\\]++|\\.)*+\])++))", re.S)
_INFO = re.compile(rb"([a-z]{1,20}):(\d{1,5})")
_DICE = re.compile(rb"\s*([1-6])([1-6])\s*")
_POINTS = re.compile(rb"\s*([a-z])(?::([a-z]))?\s*")
_RESULT = re.compile(rb"\s*+([WB])\+(\d{1,6})?(R)?", re.I)
#: gnubg's records of plays and of the cube: five chances and the equity of each evaluation, the plies of the first
_SIX = rb"(?:-?\d[\d.]{0,20} ){5}"
_ANALYSED_PLAY = re.compile(
    rb"(?P<play>(?:[a-z]{2}){0,8}) E ver \d " + _SIX + rb"(?P<equity>-?\d{1,3}(?:\.\d{1,12})?) (?P<plies>\d)C"
)
_NUMBER = rb"-?\d{1,3}(?:\.\d{1,12})?"
_ANALYSED_CUBE = re.compile(
    rb"E ver \d (?P<plies>\d)C \d \S{1,20} \d " + _SIX + rb"\S{1,20} (?P<rolling>" + _NUMBER + rb") " + _SIX
    + rb"\S{1,20} (?P<taken>" + _NUMBER + rb")"
)  # fmt: skip
PLIES = {"exact": b"7", "estimated": b"6", "rollout": b"6"}  # of our records; gnubg never looks so far
_OWN_PLIES = frozenset(PLIES.values())
ANALYSIS = frozenset(("A", "DA", "LU", "MR", "BM", "DO", "BC", "DC", "GW", "GB"))
_SKILL = {"doubtful": (b"DO[]", b"DC[]"), "bad": (b"BM[1]", b"BC[1]"), "very bad": (b"BM[2]", b"BC[2]")}
LUCKY = (0.3, 0.6)  # equities from which gnubg marks a roll as lucky, and very lucky
_RULES = re.compile(rb"[A-Za-z0-9]{1,40}")


@dataclass
class Node:
    """One node: its properties, and the byte ranges of the node, its comment and its analysis."""

    begin: int
    end: int
    properties: dict[str, list[bytes]] = field(default_factory=dict)
    comment: tuple[int, int] | None = None
    analysis: list[tuple[int, int]] = field(default_factory=list)

    @property
    def written_by_bgfmt(self) -> bool:
        """Whether the analysis in this node was written by bgfmt."""
        values = [value for key in ("A", "DA") for value in self.properties.get(key, [])]
        found = (_ANALYSED_PLAY.match(value) or _ANALYSED_CUBE.match(value) for value in values)
        return any(match["plies"] in _OWN_PLIES for match in found if match)


def recognise(data: bytes) -> bool:
    """Return whether these bytes begin as SGF does."""
    return data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"(")


def parse(data: bytes, name: str = "<sgf>") -> list[list[Node]]:
    """Parse the game trees of a file into lists of nodes; of variations only the first is followed.

    Raises FormatError with the byte at which the text is no SGF. name : for the error.
    """
    trees: list[list[Node]] = []
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    depth = 0
    node: Node | None = None
    skipping = False  # what follows a closed variation of the same tree is another one, which was not played
    while token := _TOKEN.match(data, at):
        mark, key, _ = token.groups()
        if mark == b"(":
            node = None
            depth = depth + 1
            if depth == 1:
                trees.append([])
                skipping = False
        elif mark == b")":
            if not depth:
                raise FormatError(f"{name}: byte {token.start(1)}: a closing parenthesis too many")
            node = None
            depth = depth - 1
            skipping = True
        elif mark == b";" and depth:
            node = Node(token.start(1), token.end())
            if not skipping:
                trees[-1].append(node)
        elif mark or node is None:
            break
        else:
            key = re.sub(rb"[a-z]", b"", key[:64]).decode()
            values = list(_VALUE.finditer(data, token.start(3), token.end()))
            node.properties.setdefault(key, []).extend(value[1] for value in values)
            if key == "C":
                node.comment = values[-1].span(1)
            if key in ANALYSIS:
                node.analysis.append((token.start(2), token.end()))
            node.end = token.end()
        at = token.end()
    rest = data[at : at + 4096].lstrip()
    if rest and (depth or any(trees)):
        raise FormatError(f"{name}: byte {at}: expected SGF, found {rest[:8]!r}")
    if depth:
        raise FormatError(f"{name}: byte {at}: cut short, {depth} game tree(s) still open")
    if not any(trees):
        raise FormatError(f"{name}: the file has no SGF game")
    return [tree for tree in trees if tree]


def read(data: bytes, name: str = "<sgf>") -> Iterator[Match]:
    """Yield the matches of a file; the field `at` of their records is the byte at which the node begins.

    Raises FormatError for a file that is not SGF, or not of backgammon.
    """
    walks: list[GameWalk] = []  # of the match being read
    records = 0
    for tree in parse(data, name):
        walk = _walk(tree[0].properties, name)
        if walks and (walk.number <= walks[-1].number or walk.match.length != walks[-1].match.length):
            yield finish_match(walks[0].match, walks)
            walks = []
            records = 0
        walks.append(walk)
        _game(tree, walk)
        records += len(walk.records)
        if records > model.MAX_RECORDS:
            raise FormatError(f"{name}: more than {model.MAX_RECORDS:,} records in a match")
    yield finish_match(walks[0].match, walks)


def _game(tree: list[Node], walk: GameWalk) -> None:
    waiting: Node | None = None  # with dice of which nothing has come yet
    for node in tree:
        walk.at = node.begin
        try:
            _tell(node, walk)
        except (ValueError, IndexError, PositionError):
            walk.stop("a node with a value that cannot be read")
            return
        if "DI" in node.properties:
            waiting = node
        elif "W" in node.properties or "B" in node.properties:
            waiting = None
    if waiting is not None and walk.turn is not None and not walk.over and not walk.offers:
        dice = _DICE.fullmatch(waiting.properties["DI"][0])
        if dice:
            walk.at = waiting.begin
            walk.add_unplayed(walk.turn, (int(dice[1]), int(dice[2])))


def _walk(root: dict[str, list[bytes]], name: str) -> GameWalk:
    if root.get("GM", [b"6"])[0].strip() != b"6":
        raise FormatError(f"{name}: an SGF file of another game (GM is not 6)")
    info = {key: int(value) for part in root.get("MI", []) for key, value in _INFO.findall(part)}
    words = {word.lower() for part in root.get("RU", []) for word in _RULES.findall(part)}
    if any(word.startswith(b"hyper") for word in words):
        raise FormatError(f"{name}: hypergammon is neither backgammon nor Nackgammon")
    length = info.get(b"length", 0)
    rules = Rules(
        crawford=b"crawford" in words if length else True,
        jacoby=None if length else b"jacoby" in words,
        cube_limit=1 if b"nocube" in words else None,
        variation="nackgammon" if b"nackgammon" in words else "backgammon",
    )
    texts = {key: _text(root, key) for key in ("EV", "PC", "DT", "RO", "AN")}
    match = Match(
        (_text(root, "PW"), _text(root, "PB")),
        length,
        rules=rules,
        event=texts["EV"],
        place=texts["PC"],
        date=texts["DT"],
        round=texts["RO"],
        headers={key: text for key, text in texts.items() if text},
        format=NAME,
        unit="byte",
    )
    scores = info.get(b"ws", 0), info.get(b"bs", 0)
    walk = GameWalk(match, number=info.get(b"game", 0) + 1, scores=scores, crawford=b"crawfordgame" in words)
    result = _RESULT.match(root.get("RE", [b""])[0])
    if result:
        winner = b"WB".index(result[1].upper())
        walk.result = Result(winner, int(result[2] or 0), resigned=result[3] is not None)
    return walk


def _text(properties: dict[str, list[bytes]], key: str) -> str:
    value = properties.get(key, [b""])[0]
    return re.sub(r"\\(\r\n?|\n|.)", lambda m: m[1].strip("\r\n"), decode_text(value), flags=re.S).strip()


def _tell(node: Node, walk: GameWalk) -> None:
    properties = node.properties
    for player, key in enumerate("WB"):
        if key in properties:
            walk.opinion = _opinion(properties, player, walk)
            _action(properties[key][0].decode("ascii").strip(), player, walk)
            return
    board = turn = cube = None
    if any(key in properties for key in ("AE", "AW", "AB")):
        board = _board(properties, walk.position(0))
    if "PL" in properties:
        turn = 0 if properties["PL"][0].strip().upper().startswith(b"W") else 1
    if "CV" in properties or "CP" in properties:
        value = int(properties["CV"][0]) if "CV" in properties else walk.cube
        if not is_cube(value):
            raise ValueError(value)
        owner = walk.owner
        if "CP" in properties:
            owner = {b"w": 0, b"b": 1}.get(properties["CP"][0].strip().lower()[:1])
        cube = (value, owner)
    if board is not None or cube is not None or turn not in (None, walk.turn):
        walk.setup(turn=turn, board=board, cube=cube)


def _opinion(properties: dict[str, list[bytes]], player: int, walk: GameWalk) -> model.Opinion | None:
    """Return gnubg's analysis of a node; None if it has none, or one that bgfmt wrote."""
    plays = [match for value in properties.get("A", [])[:100] if (match := _ANALYSED_PLAY.match(value))]
    cube = next((match for value in properties.get("DA", []) if (match := _ANALYSED_CUBE.match(value))), None)
    levels = [match["plies"] for match in (*plays[:1], cube) if match]
    if not levels or levels[0] in _OWN_PLIES:
        return None
    return model.Opinion(
        "GNU Backgammon",
        level=f"{levels[0].decode()}-ply",
        cube_level=f"{levels[-1].decode()}-ply",
        cube=cube and (float(cube["rolling"]), float(cube["taken"])),
        mwc=bool(walk.match.length),
        plays=tuple((tuple(_hops(match["play"], player)), float(match["equity"])) for match in plays),
    )


def _board(properties: dict[str, list[bytes]], before: Position) -> Position:
    """Return the board after the properties AE, AW and AB of a node, White first."""
    sides = [list(side) for side in Counts.of(before)]
    for letter in _each(properties.get("AE", [])):
        for player in (0, 1):
            sides[player][_point(letter, player)] = 0
    for player, key in enumerate(("AW", "AB")):
        for letter in _each(properties.get(key, [])):
            sides[player][_point(letter, player)] += 1
    return Position(*(side_from_counts(side[1:]) for side in sides)).check()


def _each(values: list[bytes]) -> list[str]:
    """Return the single points of a list of points and ranges such as a:y."""
    out: list[str] = []
    for value in values[:100]:
        ends = _POINTS.fullmatch(value)
        if not ends:
            raise ValueError(value)
        out += map(chr, range(ends[1][0], (ends[2] or ends[1])[0] + 1))
    return out


def _point(letter: str, player: int) -> int:
    """Return the number of a point as the player counts: 1 to 24, 25 the bar, 0 off."""
    number = ord(letter) - 96
    if not 1 <= number <= 26:
        raise ValueError(letter)
    if number > 24:
        return BAR if letter == "y" else OFF
    return number if player == 0 else 25 - number


def _hops(letters: bytes, player: int) -> list[Hop]:
    """Return (from, to) of each chequer of a play, written in pairs of letters."""
    points = [_point(letter, player) for letter in letters.decode("ascii")]
    return list(zip(points[::2], points[1::2], strict=True))


def _action(value: str, player: int, walk: GameWalk) -> None:
    word = value.lower()
    if word in ("double", "redouble", "beaver", "raccoon"):
        walk.double(player)
    elif word == "take":
        walk.take(player)
    elif word in ("drop", "pass"):
        walk.drop(player)
    elif word.startswith("resign"):
        walk.resign(player)
    else:
        dice = _DICE.fullmatch(value[:2].encode())
        if not dice:
            raise ValueError(value)
        walk.roll(player, (int(dice[1]), int(dice[2])), _hops(value[2:].encode(), player))


# -- writing ----------------------------------------------------------------------------------------------


MARK = "bgfmt: "  # every line that we write into a comment starts so
_WORDS = {"double": "double", "beaver": "double", "raccoon": "double", "take": "take", "drop": "drop"}


def play_record(
    player: int, plays: Sequence[tuple[tuple[Move, ...], float, float]], method: str, skill: str | None
) -> bytes:
    """Format gnubg's analysis record of a roll.

    Parameters
    ----------
    player : who played.
    plays : the moves of each play, its equity with the cube and without; the best first.
    method : "exact", "estimated" or "rollout", encoded as gnubg's number of plies.
    skill : gnubg's class of the error, "doubtful", "bad" or "very bad", None for none.
    """
    out = b"A[0]"
    for moves, equity, cubeless in plays:
        numbers = _letters(moves, player), _chances(cubeless), equity, PLIES[method]
        out += b"[%s E ver 3 %s %.6f %sC 0 1 0.000000 1]" % numbers
    return out + (_SKILL[skill][0] if skill else b"")


def luck_record(player: int, luck: float) -> bytes:
    """Format gnubg's record of the luck of a roll, such as `LU[0.31234]GW[1]`.

    luck : an equity; from LUCKY[0] and LUCKY[1] on, a mark of size 1 or 2 names who is lucky: W player 0, B 1.
    """
    size = sum(abs(luck) >= least for least in LUCKY)
    marked = b"G%c[%d]" % (b"WB"[player if luck > 0 else 1 - player], size) if size else b""
    return b"LU[%.5f]%s" % (luck, marked)


def cube_record(
    rolling: float, taken: float, cubeless: float, method: str, skill: str | None, *, on_roll: bool
) -> bytes:
    """Format gnubg's analysis record of a cube decision.

    Parameters
    ----------
    rolling, taken : equity for money, or probability to win the match, of no double and of double/take for the side
        on roll.
    cubeless : its equity without a cube.
    method : "exact", "estimated" or "rollout", encoded as gnubg's number of plies.
    skill : gnubg's class of the error, None for none.
    on_roll : True for the node of a roll, False for that of a double or its answer.
    """
    chances = _chances(cubeless)
    numbers = b" ".join(b"%s %.6f %.6f" % (chances, cubeless, worth) for worth in (rolling, taken))
    marked = _SKILL[skill][on_roll] if skill else b""
    return b"DA[E ver 3 %sC 1 0.000000 1 %s]%s" % (PLIES[method], numbers, marked)


def _chances(cubeless: float) -> bytes:
    return b"%.6f 0.000000 0.000000 0.000000 0.000000" % min(1.0, max(0.0, (1 + cubeless) / 2))


@dataclass
class Note:
    """What is added to a node: lines of comment, and gnubg's records of the analysis and of the luck of the roll."""

    lines: list[str] = field(default_factory=list)
    analysis: bytes = b""
    luck: bytes = b""

    def comment(self) -> list[bytes]:
        """Return the lines of comment as they are written."""
        return [_escaped(MARK + line) for line in self.lines]


def write_sgf(match: Match, notes: Mapping[tuple[int, int], Note] | None = None) -> bytes:
    """Return a match as .sgf, with one node for each record.

    Illegal plays as written, resignations in the result only.

    notes : what is added, by (index of the game, index of the record).
    """
    out = []
    for number, game in enumerate(match.games):
        out.append(_root(match, number, game))
        for at, record in enumerate(game.records):
            node = _node(record)
            note = (notes or {}).get((number, at), Note())
            if node:
                out += [b"\n;", node, note.analysis, note.luck]
                out += [b"C[", b"\n".join(note.comment()), b"]"] if note.lines else []
            after = record.after
            unwritten = not (record.legal or record.moves)
            if unwritten and after is not None and after != record.position:  # its board stands in its place
                out += [b"\n;", _board_node(after, record.player), b"PL[%c]" % b"BW"[record.player]]
        out.append(b")\n")
    return b"".join(out)


def with_comments(data: bytes, notes: Mapping[int, Note]) -> bytes:
    """Return an .sgf file with lines added to the comments of some nodes; earlier lines of bgfmt are replaced.

    If a note has an analysis, those by bgfmt are replaced, too. An analysis of another program stays; only the luck
    that it lacks is added.

    Parameters
    ----------
    data : the file.
    notes : what is added, by the byte at which the node begins (a record's `at`).
    """
    renew = any(note.analysis for note in notes.values())
    edits: list[tuple[int, int, bytes]] = []
    for node in chain.from_iterable(parse(data)):
        note = notes.get(node.begin, Note())
        lines = note.comment()
        record = note.analysis + note.luck
        place = node.end
        if node.written_by_bgfmt and renew:
            place = node.analysis[0][0]
            edits += [(start, end, b"") for start, end in node.analysis]
        if record and (node.written_by_bgfmt or not node.analysis):
            edits.append((place, place, record))
        elif note.luck and "LU" not in node.properties:
            end = node.analysis[-1][1]
            edits.append((end, end, note.luck))
        if node.comment is not None:
            start, end = node.comment
            if not lines and MARK.encode() not in data[start:end]:
                continue
            old = [x for x in data[start:end].split(b"\n") if not x.startswith(MARK.encode())]
            while old and not old[-1].strip():
                old.pop()
            edits.append((start, end, b"\n".join(old + lines)))
        elif lines:
            edits.append((node.end, node.end, b"C[" + b"\n".join(lines) + b"]"))
    out = []
    at = 0
    for start, end, text in sorted(edits):
        out += [data[at:start], text]
        at = end
    return b"".join([*out, data[at:]])


def _escaped(text: str) -> bytes:
    return text.replace("\\", "\\\\").replace("]", "\\]").encode("utf-8", "replace")


def _root(match: Match, number: int, game: Game) -> bytes:
    rules = match.rules
    facts = [("PW", match.players[0]), ("PB", match.players[1])]
    facts += [("DT", match.date), ("EV", match.event), ("RO", match.round), ("PC", match.place)]
    said = {
        "Crawford": match.length and rules.crawford,
        "CrawfordGame": match.length and rules.crawford and game.crawford,
        "Jacoby": not match.length and rules.jacoby,
        "Nackgammon": rules.variation == "nackgammon",
        "NoCube": rules.cube_limit == 1,
    }
    words = ":".join(word for word, holds in said.items() if holds)
    info = (match.length, number, *game.scores)
    root = b"(;FF[4]GM[6]CA[UTF-8]AP[bgfmt]MI[length:%d][game:%d][ws:%d][bs:%d]" % info
    root += b"".join(
        b"%s[%s]" % (key.encode(), _escaped(text)) for key, text in facts if text or key[0] == "P"
    )
    if words:
        root += b"RU[" + words.encode() + b"]"
    if won := ending(game):
        resigned = game.result is not None and game.result.resigned
        resigned = resigned or any(record.kind == "resign" for record in game.records[-1:])
        root += b"RE[%c+%d%s]" % (b"WB"[won[0]], won[1], b"R" if resigned else b"")
    return root


def _node(record: Record) -> bytes:
    key = b"WB"[record.player : record.player + 1]
    if record.kind in _WORDS:
        return key + b"[" + _WORDS[record.kind].encode() + b"]"
    if record.kind == "set":
        cube = b"CV[%d]CP[%c]" % (record.cube, b"wbc"[2 if record.owner is None else record.owner])
        return b"PL[%c]" % b"WB"[record.turn] + _board_node(record.position, record.turn) + cube
    if record.dice is None:  # a resignation, or a roll that never was
        return b""
    return key + b"[%d%d%s]" % (*record.dice, _letters(record.moves, record.player))


def _letters(moves: Iterable[Move], player: int) -> bytes:
    return "".join(_letter(point, player) for move in moves for point in (move.start, move.end)).encode()


def _board_node(position: Position, first: int) -> bytes:
    """Return the AE, AW and AB properties of a board whose first side is player `first`'s."""
    out = b"AE[a:y]"
    for player, side in enumerate(Counts.of(position)[:: -1 if first else 1]):
        points = [point for point, count in enumerate(side) for _ in range(count)]
        if points:
            out += b"AW" if player == 0 else b"AB"
            out += b"".join(b"[%s]" % _letter(point, player).encode() for point in points)
    return out


def _letter(point: int, player: int) -> str:
    return {OFF: "z", BAR: "y"}.get(point) or chr(96 + (point if player == 0 else 25 - point))
