"""Reads and writes matches as text: Jellyfish's `.mat`, of which every server and program writes a variant.

Cells are recognised by their first characters, never by their column; a single cell in a row belongs to the player
whose turn it is. Every pattern looks at a character a bounded number of times, so reading takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from operator import ge

from bgfmt.errors import CapabilityError, FormatError, PositionError
from bgfmt.extras.matches import model
from bgfmt.extras.matches.model import Game, Match, Record, Result, Rules, ending, one_point_away
from bgfmt.extras.matches.plays import read_play, signed_position
from bgfmt.extras.matches.walk import GameWalk, finish_match
from bgfmt.files.database import WORDS
from bgfmt.game.board import Position
from bgfmt.game.drawing import decode_text, printable
from bgfmt.game.moves import BAR, OFF, Counts
from bgfmt.game.state import as_state, signed_counts

NAME = "mat"
LARGEST = 16 << 20  # 100,000 games
MAX_CELLS = 4  # two, and results
USUAL_COLUMN = 34  # where the second player's cells begin, unless the line of names says so

_LENGTH = re.compile(r"\s*+(-?\d{1,40})\s++points?\s++match\b", re.I)
_MONEY = re.compile(r"\s*+(?:unlimited\s++(?:match|session|game)|money\s++(?:match|session|game))\b", re.I)
_GAME = re.compile(r"\s*+game\s++(\d{1,6})\s*+$", re.I)
_HEADER = re.compile(r"\s*+;\s*+\[([^\"\]]*+)\"(.*)\"")  # the value as gnubg has it, quotes in it and all
_ROW = re.compile(r"\s*+\d++\)")
_SCORE = re.compile(r":[ \t]*+(\d{1,5})(?=\s|$)")
_GAP = re.compile(r"  |\t")
#: the beginning of a cell: dice, or a word; the group that matches is its kind
_TOKEN = re.compile(
    r"(?<!\S)(?:(?P<dice>[0-6][0-6]):|(?:(?P<double>doubles?|redoubles?|beavers?|raccoons?)|(?P<take>takes?|accepts?)"
    r"|(?P<drop>drops?|pass(?:es)?|rejects?)|(?P<resign>resigns?|concedes?|loss?es|loses)|(?P<wins>wins))(?!\w))",
    re.I,
)
_NUMBER = re.compile(r"\d{1,6}")


def recognise(data: bytes) -> bool:
    """Return whether these bytes are text with a match heading, a game heading or a row of plays."""
    head = data[: 1 << 16]
    return b"\0" not in head and re.search(
        rb"(?im)^(?:\xef\xbb\xbf)?[ \t]*+(?:\d{1,5}\s++points?\s++match\b|game[ \t]++\d|1\)[ \t]*+[1-6][1-6]:)", head
    ) is not None  # fmt: skip


@dataclass
class _Text:
    """The headers and the lines of a match, with their line numbers."""

    headers: dict[str, str]
    length: int = 0
    games: list[tuple[int, list[tuple[int, str]]]] = field(default_factory=list)


@dataclass
class _Cell:
    kind: str
    side: int  # of the column in which it begins
    dice: tuple[int, int] | None
    text: str


def read(data: bytes, name: str = "<text>") -> Iterator[Match]:
    """Yield the matches of a .mat or .txt file in order; the field `at` of their records is a line number.

    Raises FormatError for a text without a game, or with a game of another variation.
    """
    if len(data) > LARGEST:
        raise FormatError(f"{name}: a text larger than {LARGEST >> 20} MiB")
    texts = [text for text in _split(decode_text(data)) if text.games]
    if not texts:
        raise FormatError(f"{name}: no match in the text (no line 'Game 1', no rows of plays)")
    yield from (_match(text, name) for text in texts)


def _split(text: str) -> list[_Text]:
    """Return the lines of each match. A match begins with a match length, or with another game 1."""
    texts = [_Text({})]
    pending: dict[str, str] = {}  # headers met since the last game
    before: list[tuple[int, str]] = []  # lines that may belong to a game without a heading of its own
    for number, line in enumerate(re.split(r"\r\n?|\n", text), 1):
        here = texts[-1]
        if line.lstrip(" \t\ufeff").startswith(";"):
            header = _HEADER.match(line.lstrip("\ufeff"))
            if header:
                headers = pending if here.games else here.headers
                headers[header[1].strip()] = header[2].strip()
        elif (length := _LENGTH.match(line)) or _MONEY.match(line):
            if here.games:
                here = _Text(pending)
                pending = {}
                texts.append(here)
            here.length = int(length[1]) if length else 0
        elif game := _GAME.match(line):
            if here.games and int(game[1]) == 1:
                here = _Text(pending or here.headers, here.length)
                texts.append(here)
            here.games.append((int(game[1]), []))
            pending = {}
        elif here.games:
            here.games[-1][1].append((number, line))
        elif _ROW.match(line) and _TOKEN.search(line):  # Jellyfish's single games have no heading
            here.games.append((1, [*before[-1:], (number, line)]))
        elif line.strip():
            before = [(number, line)]
    return texts


def _match(text: _Text, name: str) -> Match:
    if not 0 <= text.length < 100_000:
        raise FormatError(f"{name}: no match is of {text.length} points")
    headers = {key.lower(): value for key, value in text.headers.items()}
    match = Match(
        ("", ""),
        text.length,
        rules=_rules(headers, name),
        event=headers.get("event", ""),
        place=headers.get("site", ""),
        date=headers.get("eventdate", ""),
        round=headers.get("round", ""),
        headers=text.headers,
        format=NAME,
        unit="line",
    )
    walks = list[GameWalk]()
    records = 0
    crawford_seen = not match.rules.crawford
    scores = (0, 0)
    for number, lines in text.games:
        text_lines = [(at, line) for at, line in lines if line.strip()]
        heading = _names(text_lines[0][1]) if text_lines else None
        names, scores, column = heading or (("", ""), scores, USUAL_COLUMN)
        if not walks:
            match = replace(match, players=names)
        crawford = not crawford_seen and one_point_away(text.length, scores)
        crawford_seen = crawford_seen or crawford
        walks.append(GameWalk(match, number=number, scores=scores, crawford=crawford))
        _game(walks[-1], text_lines[1:] if heading else text_lines, column)
        records += len(walks[-1].records)
        if records > model.MAX_RECORDS:
            raise FormatError(f"{name}: more than {model.MAX_RECORDS:,} records in a match")
    return finish_match(match, walks)


def _rules(headers: dict[str, str], name: str) -> Rules:
    variation = headers.get("variation", "backgammon").lower() or "backgammon"
    if variation not in model.STARTS:
        raise FormatError(f"{name}: {printable(variation)} is neither backgammon nor Nackgammon")
    limit = headers.get("cubelimit", "")
    crawford = _switch(headers.get("crawford", headers.get("crawfordrule", "")))
    return Rules(
        crawford is not False, _switch(headers.get("jacoby", "")),
        _switch(headers.get("beaver", headers.get("beavers", ""))),
        int(limit) if re.fullmatch(r"[0-9]{1,6}", limit) else None, variation=variation,
    )  # fmt: skip


def _switch(value: str) -> bool | None:
    return WORDS.get(value.lower())


# -- the line of names -----------------------------------------------------------------------------------

_Heading = tuple[tuple[str, str], tuple[int, int], int]


def _names(line: str) -> _Heading | None:
    """Parse ``NAME : 0   NAME : 0``, or names without scores.

    A name may hold a colon and a number: the first one ends at the last score before two blanks.
    """
    marks = list(_SCORE.finditer(line))
    if len(marks) < 2 or line[marks[-1].end() :].strip():
        pair = re.split(r"\s{2,}+|\t", line.strip())
        if len(pair) != 2 or _ROW.match(line):
            return None
        return (pair[0], pair[1]), (0, 0), line.rindex(pair[1])
    *firsts, last = marks
    first = next((mark for mark in reversed(firsts) if _GAP.match(line, mark.end())), firsts[-1])
    right = line[first.end() : last.start()]
    column = len(line) - len(line[first.end() :].lstrip())
    return (_name(line[: first.start()]), _name(right)), (int(first[1]), int(last[1])), column


def _name(text: str) -> str:
    """Return a name without surrounding blanks and GridGammon's ``,rating``."""
    return re.sub(r",\d{3,4}$", "", text.strip())


# -- the rows --------------------------------------------------------------------------------------------


def _game(walk: GameWalk, lines: list[tuple[int, str]], column: int) -> None:
    rows = []
    for number, line in lines:
        head = _ROW.match(line)
        cells = _cells(line, head.end() if head else 0, column // 2)
        if head or cells:
            rows.append((number, cells))
        else:
            what = printable(line.strip(), 60)
            walk.at = number
            walk.problem(f"a line that is neither a row nor a result: {what!r}")
    losers = (1 - cell.side for _, row in reversed(rows) for cell in row if cell.kind == "wins")
    loser = next(losers, None)
    for k, (number, cells) in enumerate(rows):
        walk.at = number
        if len(cells) > MAX_CELLS:
            walk.problem(f"{len(cells)} cells in a row, of which {MAX_CELLS} are read")
            del cells[MAX_CELLS:]
        players = [0, 1, *(cell.side for cell in cells[2:])][: len(cells)]
        if len(cells) == 1:
            more = k + 1 < len(rows) and any(cell.kind != "wins" for cell in rows[k + 1][1])
            players = [_whose(walk, cells[0], more, loser)]
        for cell, player in zip(cells, players, strict=True):
            _tell(walk, cell, player)


def _whose(walk: GameWalk, cell: _Cell, more: bool, loser: int | None) -> int:
    """Return the player of a single cell: the one whose turn it is.

    At the start the second if another row follows.
    """
    if cell.kind == "wins":
        return cell.side
    if cell.kind == "resign" and cell.dice is None and loser is not None:
        return loser  # a line of its own may begin anywhere
    if walk.offers:
        return 1 - walk.offers[-1] if cell.kind in ("take", "drop", "double") else walk.offers[0]
    if walk.turn is not None:
        return walk.turn
    return 1 if more else cell.side


def _cells(line: str, begin: int, middle: int) -> list[_Cell]:
    line = line[begin:]
    tokens = list(_TOKEN.finditer(line))
    ends = [*(token.start() for token in tokens[1:]), len(line)]
    cells: list[_Cell] = []
    for token, end in zip(tokens, ends, strict=False):
        dice = (int(token["dice"][0]), int(token["dice"][1])) if token["dice"] else None
        kind = str(token.lastgroup)
        cell = _Cell(kind, int(begin + token.start() >= middle), dice, line[token.end() : end])
        if kind == "resign" and cells and cells[-1].kind == "dice" and cells[-1].text in (" ", "  "):
            # rolled and conceded in one cell
            cells[-1].kind = "resign"
            cells[-1].text = cell.text
        else:
            cells.append(cell)
    return cells


def _tell(walk: GameWalk, cell: _Cell, player: int) -> None:
    number = _NUMBER.search(cell.text)
    points = int(number[0]) if number else 0
    if cell.kind == "wins":
        walk.result = Result(player, points)
    elif cell.kind == "double":
        walk.double(player, points if number else None)
    elif cell.kind == "take":
        walk.take(player)
    elif cell.kind == "drop":
        walk.drop(player)
    else:
        if cell.dice is not None:
            _roll(walk, cell, cell.dice, player)
        if cell.kind != "dice":
            walk.resign(player, points)


def _roll(walk: GameWalk, cell: _Cell, dice: tuple[int, int], player: int) -> None:
    text = cell.text.strip()
    if 0 in dice or "???" in text or cell.kind == "resign":
        walk.add_unplayed(player, None if 0 in dice else dice)
    elif text[:12].lower() == "illegal play":
        try:
            walk.add_board(player, dice, _fibs_board(text, walk.position(player)))
        except PositionError as error:
            walk.add_unknown_play(player, dice, str(error))
    else:
        hops, marks, rest = read_play(text)
        stood = rest.lower() in ("cannot move", "can't move", "no play", "no move")
        if rest and not stood:
            walk.problem(f"text that is not a play: {printable(rest, 60)!r}")
        walk.roll(player, dice, hops, marks=marks)
        if not (hops or stood):
            walk.mark_uncertain()


# -- the board that GridGammon writes in place of a play ----------------------------------------------


MAX_MOVED = 16  # chequers that may differ in all, on both sides, for it to be a board one play later
MAX_NUMBERS = 100  # GridGammon writes ten before the 26 of the board, and others after them


def _fibs_board(text: str, before: Position) -> Position:
    """Return the board after a play, the player who moved first, from the numbers that GridGammon writes instead.

    The text does not say where the board begins, nor whose side and direction it shows: the reading that is nearest
    to the board before is used. Raises PositionError if none can follow from it by one play.
    """
    numbers = [int(number) for number in re.findall(r"-?\d{1,6}", text)][:MAX_NUMBERS]
    mine, theirs = Counts.of(before)
    best = None
    distance = MAX_MOVED + 1
    for begin in range(len(numbers) - BAR):
        points = numbers[begin : begin + BAR + 1]
        for counts in (points, points[::-1], [-n for n in points], [-n for n in reversed(points)]):
            try:
                position = signed_position(counts)
            except PositionError:
                continue
            after, others = Counts.of(position)
            # the other side changes by chequers sent to its bar only
            possible = sum(others) == sum(theirs) and all(map(ge, theirs[:BAR], others[:BAR]))
            apart = sum(abs(a - b) for a, b in zip(mine + theirs, after + others, strict=True))
            if possible and sum(after) <= sum(mine) and apart < distance:
                best = position
                distance = apart
    if best is None:
        raise PositionError("a play that is not recorded, and no board after it that can be read")
    return best


# -- writing ----------------------------------------------------------------------------------------------


WRITTEN_COLUMN = 33


def write_mat(match: Match) -> str:
    """Return a match as .mat text.

    Raises CapabilityError for what the format cannot express: a board, cube or turn set by hand, or a game that
    starts from another position.
    """
    out = [f'; [{key} "{_printable(value)}"]' for key, value in _headers(match) if value]
    out += ["", f" {match.length} point match", ""]
    for game in match.games:
        out += _game_lines(match, game)
    return "\n".join(out).lstrip("\n") + "\n"


def _headers(match: Match) -> list[tuple[str, str]]:
    rules = match.rules
    switches = {None: "", True: "On", False: "Off"}
    return [
        ("Site", match.place),
        ("Event", match.event),
        ("Round", match.round),
        ("Player 1", match.players[0]),
        ("Player 2", match.players[1]),
        ("EventDate", match.date),
        ("Variation", rules.variation.title()),
        ("Crawford", switches[rules.crawford]),
        ("Jacoby", switches[rules.jacoby]),
        ("Beaver", switches[rules.beavers]),
        ("CubeLimit", str(rules.cube_limit or "")),
    ]


def _printable(text: str) -> str:
    return printable(text, 500)


def _game_lines(match: Match, game: Game) -> list[str]:
    usual = model.STARTS[match.rules.variation]
    if game.start != Position(usual, usual) or any(record.kind == "set" for record in game.records):
        raise CapabilityError(f"game {game.number}: a board or cube set by hand cannot be written as .mat")
    names = [f"{_printable(name)} : {score}" for name, score in zip(match.players, game.scores, strict=True)]
    column = max(WRITTEN_COLUMN, len(names[0]) + 3)
    rows: list[list[str]] = []
    turned = 0
    for record in game.records:
        turned = turned + 1 if record.kind in model.OFFERS else 0
        if record.implied:
            continue
        if record.player == 0 or not rows or rows[-1][1]:
            rows.append(["", ""])
        rows[-1][record.player] = _cell(record, record.cube << turned)
    below = []
    if won := ending(game):
        winner, points = won
        words = f" Wins {points} point{'s' * (points != 1)}" if points else " Wins"
        if winner == 1 and rows and not rows[-1][1]:
            rows[-1][1] = words  # gnubg counts a pass twice where its result has a line of its own
        else:
            below = [" " * (column if winner else 5) + words]
    lines = [f"{n:3d}) {left:<{column - 7}}  {right}".rstrip() for n, (left, right) in enumerate(rows, 1)]
    return [f" Game {game.number}", f" {names[0]:<{column - 1}}{names[1]}", *lines, *below, ""]


def _cell(record: Record, cube: int) -> str:
    dice = "00" if record.dice is None else f"{record.dice[0]}{record.dice[1]}"
    words = {
        "double": f" Doubles => {cube}",
        "beaver": f" Beavers => {cube}",
        "raccoon": f" Beavers => {cube}",
        "take": " Takes",
        "drop": " Drops",
        "resign": f" Losses {record.points} point" if record.points else " Resigns",
        "unplayed": f"{dice}: ????",
        "dance": f"{dice}: Cannot Move",
    }
    if record.kind in words:
        return words[record.kind]
    if record.moves:
        return f"{dice}: " + " ".join(
            f"{'bar' if m.start == BAR else m.start}/{'off' if m.end == OFF else m.end}{'*' * m.hit}"
            for m in record.moves
        )
    if record.after == record.position or record.after is None:
        return f"{dice}:"
    board = signed_counts(as_state(record.after))
    return f"{dice}: Illegal play (" + ";".join(map(str, [0, 0, 0, *board])) + ")"
