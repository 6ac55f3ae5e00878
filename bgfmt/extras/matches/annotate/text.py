"""Formats judgements as text: one line for each, a match, or many matches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bgfmt.analysis.answers import estimate_words
from bgfmt.extras.matches.annotate.judging import ERROR, Judgement
from bgfmt.extras.matches.annotate.report import WORST, MatchReport, Report, Total
from bgfmt.game.drawing import draw, pluralize, printable

PLAYERS = 20  # whose sums an overview gives
WRONGS = ("missed_doubles", "wrong_doubles", "wrong_takes", "wrong_passes", "doubtful", "bad", "very_bad")


def format_equity(one: Judgement, choice: str) -> str:
    """Format the equity of what was done or was best, after the match winning probability if there is one.

    Such as "62.345 % +0.247" or "+0.12345", with a "~" before an estimate; "" for an illegal play.
    """
    equity, mwc = (one.equity, one.mwc) if choice == one.did else (one.best_equity, one.best_mwc)
    sign = "~" if is_estimated(one, choice) else ""
    if equity is None:
        return ""
    return f"{sign}{equity:+.5f}" if mwc is None else f"{sign}{100 * mwc:.3f} % {equity:+.3f}"


def is_estimated(one: Judgement, choice: str) -> bool:
    """Return True if the value of a choice is an estimate, which the value of passing never is."""
    return one.approximate and choice != "pass"


def format_loss(one: Judgement, sign: str = "-") -> str:
    """Format the loss of a decision with a sign before each number: "-1.655 %, -0.033"; "" without a loss."""
    if one.loss is None or one.loss <= ERROR:
        return ""
    about = "~" if one.approximate else ""
    if one.loss_mwc is None:
        return f"{about}{sign}{_format_positive(one.loss, 5)}"
    return f"{about}{sign}{_format_positive(100 * one.loss_mwc, 3)} %, {sign}{_format_positive(one.loss, 3)}"


def _format_positive(number: float, digits: int) -> str:
    """Format a positive number with `digits` decimals, or with as many as the first non-zero digit needs."""
    while digits < 12 and not float(f"{number:.{digits}f}"):
        digits += 1
    return f"{number:.{digits}f}"


def line(one: Judgement) -> str:
    """Format a judgement as one line: what was done, its equity, what was best, and remarks."""
    best = f"best {one.best} {format_equity(one, one.best)}"
    if one.verdict == "illegal":
        return f"{one.did} ({one.note}), {best}"
    text = f"{one.did} {format_equity(one, one.did)}"
    if one.verdict == "forced":
        return f"{text}, the only play"
    loss = format_loss(one)
    right = "right" if one.open_error is None else "probably right"
    notes = "; ".join(remarks(one))
    return text + (f" ({loss}), {best}" if loss else f", {right}") + (f" ({notes})" if notes else "")


def remarks(one: Judgement) -> list[str]:
    """Return remarks about the numbers of a judgement, and about the file's own analysis where it differs."""
    notes = [one.note] if one.note else []
    if one.verdict in ("illegal", "forced"):
        return notes
    if one.gammons == "ignored":
        notes.append("gammons are possible and ignored")
    if one.approximate:
        notes.append(certainty(one) if one.bounded else "approximate")
    elif one.verdict == "close":
        notes.append("too close to call")
    if one.file is not None and one.file.differs:
        theirs = " ".join(filter(None, (one.file.engine, one.file.level)))
        notes.append(f"{theirs} has {one.file.best}, which loses {_format_positive(one.file.cost, 3)}")
    return notes


def verdict(one: Judgement) -> str:
    """Return a sentence that says whether the decision was right, and what it lost."""
    if one.verdict == "forced":
        return f"Forced: {one.did} is the only play."
    about = "about " if one.approximate else ""
    if one.loss is None or one.loss <= ERROR:
        right = "Probably right" if one.approximate else "Right"
        better = "no play is better than " if one.decision.kind == "play" else ""
        return f"{right}: {better}{one.did}."
    loss = f"{about}{_format_positive(one.loss, 5)} points of equity at a cube of 1"
    if one.loss_mwc is not None:
        emg = _format_positive(one.loss, 3)
        loss = f"{about}{_format_positive(100 * one.loss_mwc, 3)} % of the chance to win the match, {emg} EMG"
    first = {"error": "Wrong", "close": "Too close to call", "approximate": "Probably wrong"}[one.verdict]
    return f"{first}: {one.best} is best, {one.did} loses {loss}."


def explanation_lines(one: Judgement) -> list[str]:
    """Return the explanation of a cube decision, line by line: the advice, the take point, the rolls."""
    return [one.advice] * bool(one.advice) + (one.insight.lines if one.insight else [])


def certainty(one: Judgement) -> str:
    """Return in words how certain the verdict of a judgement is, and why."""
    if one.verdict == "forced":
        return "no decision to make"
    if not one.bounded:
        return "approximate: no error bound is known"
    if one.approximate and one.max_error is not None:
        usual = one.max_error["equity"] if one.usual_error is None else one.usual_error
        return estimate_words(one.source, usual, close_within=one.open_error)
    if one.open_error is not None:
        return f"too close to call: the loss lies within the error of {one.open_error:.2g}"
    if not one.proved:
        return "not proved for a table of this size: the loss exceeds the error measured on other tables"
    return "exact" if one.source == "calculation" else "certain: the margin exceeds the table's maximum error"


def title(report: MatchReport) -> str:
    """Format the heading of a match: "Ann against Bob, match to 7, 5 games"."""
    length = report.match.length
    kind = f"match to {length}" if length else "money"
    facts = [
        kind,
        pluralize(len(report.match.games), "game"),
        printable(report.match.event),
        report.match.date,
    ]
    return ", ".join([" against ".join(report.names), *filter(None, facts)])


def basis(report: MatchReport) -> str:
    """Return a line that says whether money or a match equity table was used."""
    if report.met is None:
        return "judged for money: equities are for a cube at 1"
    more = ", extended beyond its end" if report.met.extended else ""
    table = f"{report.met.name} (values {report.met.digest[:12]}){more}"
    return f"judged at the score: match equity table {table}"


def coverage(report: MatchReport) -> str:
    """Return a line with the number of decisions of a match, of races among them, and of those judged."""
    beyond = f", {report.beyond} beyond the tables and the limit" if report.beyond else ""
    judged = f"{len(report.judgements)} judged{beyond}"
    return f"{pluralize(report.decisions, 'decision')}, {report.races} of them races, {judged}"


def total_line(total: Total) -> str:
    """Format a player's totals as a line, and ratings and luck as a second one if there are any."""
    kinds = [pluralize(total.plays, "play"), f"{total.cube_decisions} cube"]
    some = ("forced", "close", "estimated", "approximate")
    kinds += [f"{getattr(total, word)} {word}" for word in some if getattr(total, word)]
    text = f"{printable(total.name) or '(no name)'}: {pluralize(total.decisions, 'decision')} judged "
    text += f"({', '.join(kinds)}), "
    text += f"{pluralize(total.errors, 'error')} ({pluralize(total.play_errors, 'play')}, {total.cube_errors} cube), "
    text += f"equity lost {total.equity_lost:.5f}"
    more = [f"match winning chance {100 * total.mwc_lost:.3f} %"] if total.mwc_lost >= 5e-6 else []
    more += [f"{total.points_lost:.5f} points"] if total.points_lost >= 5e-6 else []
    text += f" ({', '.join(more)})" if more else ""
    if total.error_rate is not None:
        text += f", {1000 * total.error_rate:.2f} thousandths a decision"
    if total.approximate_lost:
        text += f"; in addition, about {total.approximate_lost:.3f} in approximate decisions"
    return text + race_line(total)


def race_line(total: Total) -> str:
    """Format a player's ratings, numbers of wrong decisions and luck, with a leading line break; "" without any."""
    parts = []
    if total.race_pr is not None:
        parts.append(f"PR {total.race_pr:.2f} (XG, {pluralize(total.xg_decisions, 'decision')})")
    if total.race_memg is not None:
        parts.append(f"{total.race_memg:.1f} mEMG (gnubg, {pluralize(total.gnubg_decisions, 'decision')})")
    parts += [f"{name.replace('_', ' ')} {getattr(total, name)}" for name in WRONGS if getattr(total, name)]
    if total.rolls:
        mwc = f", {100 * total.luck_mwc:+.3f} %" if total.luck_mwc else ""
        parts.append(f"luck {total.luck:+.3f}{mwc} ({pluralize(total.rolls, 'roll')})")
    return f"\n  the race alone: {', '.join(parts)}" if parts else ""


def where(one: Judgement) -> str:
    """Format where a decision was made: game, move, record, player and dice."""
    decision = one.decision
    dice = decision.state.dice
    roll = f", roll {dice[0]}{dice[1]}" if dice else ""
    move = f"game {decision.game_number} move {decision.move} record {decision.record_number}"
    return f"{move}, {printable(decision.name)}{roll}"


def score(one: Judgement) -> str:
    """Format the score and the cube of a decision as the player who decides sees them."""
    state = replace(one.decision.state, turn=one.decision.player)
    parts = [f"cube {state.cube_value} {state.owner}"]
    if state.away is not None:
        crawford = ", Crawford" if state.crawford else ""
        parts.insert(0, f"{state.away[0]}-away {state.away[1]}-away{crawford}")
    return ", ".join(parts)


def worst_lines(report: Report, most: int = WORST) -> Iterator[str]:
    """Yield the lines about the `most` worst errors, with drawn boards."""
    several = len(report.matches) > 1
    for place, (one_match, one) in enumerate(report.worst(most), 1):
        name = f"{printable(one_match.file)}, " if several else ""
        yield f"{place}. {name}{where(one)}, {score(one)}"
        state = one.decision.state
        first, second = (
            printable(state.names[player]) or "(no name)" for player in (state.turn, 1 - state.turn)
        )
        yield f"   X is {first}, O is {second}"
        yield draw(state.position)
        yield f"   {line(one)}"
        yield from (f"   {words}" for words in explanation_lines(one))
        yield ""


def match_lines(report: MatchReport) -> Iterator[str]:
    """Yield the lines of a match: heading, each decision, problems, and totals."""
    yield title(report)
    yield basis(report)
    yield coverage(report)
    for one in report.judgements:
        decision = one.decision
        state = one.decision.state
        dice = f"{state.dice[0]}{state.dice[1]}" if state.dice else "--"
        yield (
            f"game {decision.game_number} move {decision.move:3d} record {decision.record_number:3d}  "
            f"{state.gnubg_id}  "
            f"{report.names[decision.player]} {dice}  {line(one)}"
        )
    yield from ("problem: " + printable(text) for text in report.problems)
    yield from map(total_line, report.totals)


def text(report: Report, *, most: int = WORST) -> str:
    """Format the whole report: each match with all its decisions, the totals of all, and the worst errors.

    most : number of worst errors.
    """
    out: list[str] = []
    for one in report.matches:
        out += [printable(one.file)] if len(report.matches) > 1 else []
        out += [*match_lines(one), ""]
    return _end(report, out, most)


def overview(report: Report, *, most: int = WORST) -> str:
    """Format a short report: one line for each match, the totals of the most active players, and the worst errors.

    most : number of worst errors.
    """
    out = []
    for one in report.matches:
        errors = sum(judged.error for judged in one.judgements)
        lost = sum(total.equity_lost for total in one.totals)
        share = f"{len(one.judgements)} of {pluralize(one.races, 'race')} judged"
        sums = f"{share}, {pluralize(errors, 'error')}, {lost:.4f} lost"
        out.append(f"{printable(one.file)}: {title(one)}: {sums}")
    return _end(report, [*out, ""] if out else [], most, PLAYERS)


def _end(report: Report, out: list[str], most: int, players: int | None = None) -> str:
    if len(report.matches) > 1:
        totals = sorted(report.totals, key=lambda total: -total.decisions)
        out.append(f"all {len(report.matches)} matches")
        out += map(total_line, totals[:players])
        if players is not None and len(totals) > players:
            out.append(f"and {len(totals) - players} more players")
        out.append("")
    worst = list(worst_lines(report, most))
    if worst:
        out += ["the worst errors (luck excluded):", "", *worst]
    out += [f"not read: {name}: {why}" for name, why, _ in report.unread]
    return "\n".join(out).rstrip("\n") + "\n"
