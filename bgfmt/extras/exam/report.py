"""Reports of a judged exam as text, JSON and an HTML page with boards; of one engine, or of two compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from bgfmt.extras.exam.candidates import STATUS
from bgfmt.extras.exam.judging import Judged, cube_values, findings
from bgfmt.extras.exam.sets import EQUITY, KINDS, OWNERS, Array
from bgfmt.extras.exam.statistics import sign_flip_p, weighted_mean
from bgfmt.extras.matches.annotate.page import document
from bgfmt.game.display import board
from bgfmt.game.drawing import draw, printable
from bgfmt.game.moves import legal_plays

DRAWN = 3  # worst decisions with boards in the text report


def groups(judged: Judged) -> dict[str, dict[str, Array]]:
    """Return masks that group the questions of a benchmark: {criterion: {group: (N,) bool}}.

    Criteria are kind, chequers (of the side that has more), score, cube and stratum (group of the set); a group may
    be empty.
    """
    exam = judged.exam
    scores = {"money": ~judged.match}
    most = np.maximum(exam.us.sum(axis=1, dtype=int), exam.them.sum(axis=1, dtype=int))
    at = np.column_stack([exam.away, exam.crawford])
    for a, b, crawford in np.unique(at[judged.match], axis=0).tolist():
        scores[f"{a}-{b} away" + ", Crawford" * crawford] = (at == (a, b, crawford)).all(axis=1)
    strata = exam.strata if len(exam.strata) > 1 else ()
    return {
        "kind": {kind: exam.kind == k for k, kind in enumerate(KINDS) if k != EQUITY},
        "chequers": {f"{n}": most == n for n in range(1, 16)},
        "score": scores,
        "cube": {name: exam.owner == k for k, name in enumerate(OWNERS)},
        "stratum": {name: exam.stratum == k for k, name in enumerate(strata)},
    }


def figures(judged: Judged, rows: Array) -> dict[str, Any] | None:
    """Return the statistics of the losses of some decisions, None if there are no decisions among them.

    Keys: `decisions`, `wrong`, `wrong_share`, `equity_lost` (mean), `standard_error`, `worst_equity`, and mean and
    worst loss in `points` and `mwc`. Means of equity are weighted by how often a question comes up in practice
    (`Exam.weight`).

    rows : (N,) bool, the questions to use.
    """
    rows = rows & judged.decided
    if not rows.any():
        return None
    equity = judged.equity[rows]
    wrong = judged.is_wrong[rows]
    mean, error = weighted_mean(equity, judged.exam.weight[rows], judged.exam.clusters[rows])
    lost = {"points": judged.points[rows & ~judged.match], "mwc": judged.loss[rows & judged.match]}
    data: dict[str, Any] = {
        "decisions": len(wrong), "wrong": int(wrong.sum()), "wrong_share": float(wrong.mean()),
        "equity_lost": mean, "standard_error": error, "worst_equity": float(equity.max()),
    }  # fmt: skip
    for unit, one in lost.items():
        data[f"{unit}_lost"] = float(one.mean()) if len(one) else None
        data[f"worst_{unit}"] = float(one.max()) if len(one) else None
    return data


def calibration(judged: Judged) -> dict[str, Any]:
    """Return the errors of answered equities and win probabilities, by names such as "equity, money", "win, score".

    At a score the equity is the probability to win the match. Each entry has `answers` (count), `mean_error`,
    `rms_error`, `greatest_error` and `bins`: [mean answered, mean exact, count] for each tenth of the axis that has
    values; the first and the last one include all values outside the axis.
    """
    out: dict[str, Any] = {}
    for k, name in enumerate(("equity", "win")):
        for where, mask in (("money", ~judged.match), ("score", judged.match)):
            rows = mask & ~np.isnan(judged.number_errors[k])
            if not rows.any():
                continue
            off = judged.number_errors[k][rows]
            low = -1.0 if (name, where) == ("equity", "money") else 0.0
            out[f"{name}, {where}"] = {
                "answers": len(off),
                "mean_error": float(off.mean()),
                "rms_error": float(np.sqrt((off**2).mean())),
                "greatest_error": float(np.abs(off).max()),
                "bins": _bins(judged.answers.numbers[rows, k], off, low),
            }
    return out


def _bins(said: Array, off: Array, low: float) -> list[list[float]]:
    """Return [mean answered, mean exact, count] for each tenth of the range from `low` to 1 that has values.

    off : (M,) answered minus exact.
    """
    tenths = np.clip(np.floor(10 * (said - low) / (1 - low)), 0, 9).astype(int)
    found = []
    for tenth in np.unique(tenths):
        rows = tenths == tenth
        found.append([float(said[rows].mean()), float((said - off)[rows].mean()), int(rows.sum())])
    return found


def describe_decision(judged: Judged, number: int) -> dict[str, Any]:
    """Return one decision as values for JSON: the question, the answer, the best answer and the loss.

    number : of the question.
    """
    exam = judged.exam
    (question,) = exam.questions(np.array([number]))
    if question.dice:
        legal = legal_plays(question.position, *question.dice)
        named = {play.result.us.padded(exam.points): str(play) for play in legal}
        words = [named.get(play, "") for play in question.plays]
        values = exam.of(number)
    else:
        words = ["roll", "double"] if question.kind == "double" else ["pass", "take", "beaver"]
        values = cube_values(exam)[number]
    return {
        "number": number, "question": str(question), "kind": question.kind, "position_id": question.position.id,
        "did": words[judged.answers.choice[number]], "best": words[int(np.nanargmax(values))],
        "loss": float(judged.loss[number]), "equity_lost": float(judged.equity[number]),
        "unit": "mwc" if judged.match[number] else "points",
    }  # fmt: skip


def worst_decisions(judged: Judged, most: int) -> list[int]:
    """Return the question numbers of the wrong decisions with the greatest losses (as equities), greatest first.

    most : how many at most.
    """
    wrong = np.flatnonzero(judged.is_wrong)
    order = np.argsort(-judged.equity[wrong], kind="stable")
    numbers: list[int] = wrong[order[:most]].tolist()
    return numbers


def compare_paired(a: Judged, b: Judged) -> dict[str, Any]:
    """Compare two engines on the decisions that both answered; return a dict for JSON.

    `difference` is the mean loss of the first minus that of the second, as equity; `p` and `p_wrong` are p-values of
    `sign_flip_p` with the position as the cluster, for the losses and for the numbers of wrong decisions.
    """
    rows = a.decided & b.decided
    weight = a.exam.weight[rows]
    clusters = a.exam.clusters[rows]
    lost = (a.equity - b.equity)[rows]
    wrong = a.is_wrong[rows].astype(int) - b.is_wrong[rows]
    mean, error = weighted_mean(lost, weight, clusters)
    return {
        "decisions": int(rows.sum()),
        "positions": len(np.unique(clusters)),
        "difference": mean,
        "standard_error": error,
        "p": sign_flip_p(weight * lost, clusters),
        "wrong_first_only": int((wrong > 0).sum()),
        "wrong_second_only": int((wrong < 0).sum()),
        "p_wrong": sign_flip_p(wrong, clusters),
    }


def as_dict(judged: Judged, most: int) -> dict[str, Any]:
    """Return the report on one engine as a dict for JSON.

    most : how many of the worst decisions to include.
    """
    answers = judged.answers
    seconds = answers.seconds
    known = calibration(judged)
    data = {"all": seconds.sum(), "mean": seconds.mean(), "greatest": seconds.max(initial=0)}
    return {
        "engine": judged.name,
        "set": judged.exam.as_dict(),
        "answers": {status.replace(" ", "_"): judged.count(status) for status in STATUS},
        "seconds": {name: float(value) for name, value in data.items()},
        "findings": [one._asdict() for one in findings(judged)],
        "all": figures(judged, np.ones(len(judged.exam), np.bool_)),
        "by": {
            by: {name: made for name, mask in parts.items() if (made := figures(judged, mask))}
            for by, parts in groups(judged).items()
        },
        "calibration": known,
        "bins": known["equity, money"]["bins"] if "equity, money" in known else [],
        "worst": [describe_decision(judged, number) for number in worst_decisions(judged, most)],
        "failures": [
            {"number": n, "status": STATUS[int(answers.status[n])], "words": words}
            for n, words in sorted(answers.words.items())
        ],
    }


class Report:
    """The report of one judged engine, or of two compared.

    most : how many of the worst decisions to show of each.
    """

    def __init__(self, judged: list[Judged], most: int) -> None:
        self.judged = judged
        self.engines = [as_dict(one, most) for one in judged]
        self.paired = compare_paired(*judged) if len(judged) == 2 else None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as a dict for JSON: `engines`, a list, and `paired`, None for a single engine."""
        return {"engines": self.engines, "paired": self.paired}

    def text(self) -> str:
        """Return the report as plain text."""
        parts = []
        for data, judged in zip(self.engines, self.judged, strict=True):
            parts.append("\n".join([*lines(data), *_worst_lines(data, judged)]))
        return "\n\n".join([*parts, *self._comparison()])

    def page(self) -> str:
        """Return the report as an HTML page that loads nothing else."""
        title = " and ".join(printable(data["engine"], 80) for data in self.engines)
        body = [f"<pre>{escape(text)}</pre>" for text in self._comparison()]
        for data, judged in zip(self.engines, self.judged, strict=True):
            text = "\n".join(lines(data))
            body += [f'<pre class="scroll">{escape(text)}</pre>', *_cards(data, judged)]
        return document(title, body)

    def render_file(self, name: str) -> str:
        """Return the report as the text of a file: JSON, HTML or plain text by the ending of `name`."""
        if name.endswith(".json"):
            return json.dumps(self.as_dict(), indent=2) + "\n"
        return self.page() if name.endswith((".html", ".htm")) else self.text() + "\n"

    def _comparison(self) -> list[str]:
        """Return the comparison of two engines as a text; with one engine there is none."""
        if self.paired is None:
            return []
        data = self.paired
        names = " and ".join(printable(one["engine"], 80) for one in self.engines)
        return [
            f"{names}: {data['decisions']:,} decisions of both on {data['positions']:,} positions\n"
            f"  difference in equity lost (first minus second): {data['difference']:+.6f}, "
            f"standard error {_number(data['standard_error'])}, p {data['p']:.2g} (paired, by position)\n"
            f"  wrong in the first alone {data['wrong_first_only']:,}, "
            f"in the second alone {data['wrong_second_only']:,}, p {data['p_wrong']:.2g}"
        ]


# -- in words ------------------------------------------------------------------------------------------------------


def _number(error: float | None) -> str:
    """Return a standard error as text."""
    return f"{error:.6f}" if error is not None else "unknown "


def _row(name: str, row: dict[str, Any]) -> str:
    """Return one row of the table of losses; `row` is a result of `figures`."""
    best = 100 * (1 - row["wrong_share"])
    lost = f"{row['equity_lost']:.6f}   {_number(row['standard_error'])}  {row['worst_equity']:.4f}"
    points = "" if row["points_lost"] is None else f"{row['points_lost']:.6f}"
    mwc = "" if row["mwc_lost"] is None else f"{100 * row['mwc_lost']:.4f} %"
    counts = f"{row['decisions']:>9,} {row['wrong']:>8,}  {best:>6.2f} %"
    return f"{printable(name, 24):24}{counts}      {lost}     {points:>8}  {mwc:>10}"


def lines(data: dict[str, Any]) -> Iterator[str]:
    """Yield the report on one engine as lines of text, without its worst decisions.

    data : a result of `as_dict`.
    """
    exam = data["set"]
    seconds = data["seconds"]
    name = printable(exam["name"] or "a set", 80)
    yield f"{printable(data['engine'], 80)}: {name}, {exam['questions']:,} questions ({exam['digest'][:12]})"
    yield f"  {printable(exam['purpose'] or exam['origin'], 200)}"
    yield "  " + ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in data["answers"].items() if n)
    yield f"  {seconds['all']:.3g} s, {1000 * seconds['mean']:.2g} ms an answer"
    yield from ("", "Findings" if data["findings"] else "Findings: none")
    yield from (f"  {one['words']}" for one in data["findings"])
    if data["all"]:
        yield ""
        yield f"{'':24}decisions    wrong      best   equity lost  st. error  worst    points lost    MWC lost"
        yield _row("all", data["all"])
        for by, parts in data["by"].items():
            if len(parts) > 1:
                yield f"by {by}"
                yield from (_row(f"  {name}", row) for name, row in parts.items())
    for name, row in data["calibration"].items():
        yield (
            f"{name}: {row['answers']:,} answers, mean error {row['mean_error']:+.5f}, "
            f"rms {row['rms_error']:.5f}, greatest {row['greatest_error']:.5f}"
        )


def _verdict(case: dict[str, Any]) -> str:
    """Return the answer to a question, the best one and the loss as text; `case` is one of the worst decisions."""
    unit = "points" if case["unit"] == "points" else "MWC"
    return f"{case['did']}, best {case['best']}, costs {case['loss']:.5f} {unit}"


def _worst_lines(data: dict[str, Any], judged: Judged) -> Iterator[str]:
    """Yield the worst decisions as lines of text, the first of them with boards."""
    if data["worst"]:
        yield from ("", "The worst")
    for place, case in enumerate(data["worst"]):
        yield f"  {case['question']}: {_verdict(case)}"
        if place < DRAWN:
            (question,) = judged.exam.questions(np.array([case["number"]]))
            yield from (f"    {line}" for line in draw(question.position).splitlines())


def _cards(data: dict[str, Any], judged: Judged) -> Iterator[str]:
    """Yield the worst decisions as HTML with boards."""
    yield '<div class="cards">'
    for case in data["worst"]:
        (question,) = judged.exam.questions(np.array([case["number"]]))
        yield (
            f'<article class="card"><p class="soft">{escape(case["question"])}</p>{board(question.state)}'
            f"<p>{escape(_verdict(case))}</p></article>"
        )
    yield "</div>"
