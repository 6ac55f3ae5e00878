"""Reports of a judged exam as text, JSON and an HTML page with plots; of one engine, or of two compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from bgfmt.extras.exam import plots
from bgfmt.extras.exam.candidates import STATUS
from bgfmt.extras.exam.judging import Judged, findings
from bgfmt.extras.exam.sets import DOUBLE, EQUITY, KINDS, OWNERS, PLAY, Array
from bgfmt.extras.exam.statistics import sign_flip_p, weighted_mean
from bgfmt.extras.matches.annotate.page import document, escaped
from bgfmt.game.display import board
from bgfmt.game.drawing import draw, printable
from bgfmt.game.moves import legal_plays

SHOWN = 16  # groups of one criterion in the text report
BINS = np.array([1e-7, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 10])


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
    answers = judged.answers
    question = exam.questions(np.array([number]))[0]
    worths = exam.of(number)
    choice = int(answers.choice[number])
    if exam.kind[number] == PLAY:
        assert question.dice is not None
        legal = legal_plays(question.position, *question.dice)
        named = {play.result.us.padded(exam.points): str(play) for play in legal}
        names = [named.get(play, "") for play in question.plays]
        did = names[choice]
        best = names[int(worths.argmax())]
    else:
        rolling, taken, passed, beaver = worths.tolist()
        words = ["pass", "take", "beaver"]
        ranked = [-passed, -taken, -beaver]
        if exam.kind[number] == DOUBLE:
            words = ["roll", "double"]
            ranked = [rolling, np.nanmin([taken, passed, beaver])]
        did = words[choice]
        best = words[int(np.nanargmax(ranked))]
    return {
        "number": number, "question": str(question), "kind": question.kind, "position_id": question.position.id,
        "did": did, "best": best, "loss": float(judged.loss[number]), "equity_lost": float(judged.equity[number]),
        "unit": "mwc" if judged.match[number] else "points",
    }  # fmt: skip


def worst_decisions(judged: Judged, most: int) -> list[int]:
    """Return the question numbers of the wrong decisions with the greatest losses (as equities), greatest first.

    most : how many at most.
    """
    equity = np.where(judged.is_wrong, np.nan_to_num(judged.equity), 0)
    order = np.argsort(-equity, kind="stable")[:most]
    return [int(k) for k in order if equity[k] > 0]


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
        parts = ["\n".join(lines(*one)) for one in zip(self.engines, self.judged, strict=True)]
        return "\n\n".join([*parts, *["\n".join(self.pair_lines())] * len(parts[1:])])

    def page(self) -> str:
        """Return the report as an HTML page that loads nothing else."""
        title = " and ".join(printable(data["engine"], 80) for data in self.engines)
        body = [f"<p>{escaped(line, 400)}</p>" for line in self.pair_lines()]
        for data, judged in zip(self.engines, self.judged, strict=True):
            body += _section(data, judged, named=len(self.engines) > 1)
        return document(title, body, plots.STYLE)

    def render_file(self, name: str) -> str:
        """Return the report as the text of a file: JSON, HTML or plain text by the ending of `name`."""
        if name.endswith(".json"):
            return json.dumps(self.as_dict(), indent=2) + "\n"
        return self.page() if name.endswith((".html", ".htm")) else self.text() + "\n"

    def pair_lines(self) -> Iterator[str]:
        """Yield the comparison of two engines as lines of text; nothing with one engine."""
        if self.paired is not None:
            data, first, second = self.paired, *(one["engine"] for one in self.engines)
            yield (
                f"{first} and {second}: {data['decisions']:,} decisions of both on {data['positions']:,} positions"
            )
            yield (
                f"  difference in equity lost (first minus second): {data['difference']:+.6f}, "
                f"standard error {_number(data['standard_error'])}, p {data['p']:.2g} (paired, by position)"
            )
            alone = (
                f"first alone {data['wrong_first_only']:,}, in the second alone {data['wrong_second_only']:,}"
            )
            yield f"  wrong in the {alone}, p {data['p_wrong']:.2g}"


# -- in words ------------------------------------------------------------------------------------------------------


def _number(error: float | None) -> str:
    """Return a standard error as text."""
    return f"{error:.6f}" if error is not None else "unknown "


def _cells(row: dict[str, Any]) -> dict[str, str]:
    """Return figures as texts by column heading."""
    points = row["points_lost"]
    mwc = row["mwc_lost"]
    return {
        "decisions": f"{row['decisions']:,}", "wrong": f"{row['wrong']:,}",
        "best": f"{100 * (1 - row['wrong_share']):.2f} %", "equity lost": f"{row['equity_lost']:.6f}",
        "st. error": _number(row["standard_error"]), "worst": f"{row['worst_equity']:.4f}",
        "points lost": "" if points is None else f"{points:.6f}",
        "MWC lost": "" if mwc is None else f"{100 * mwc:.4f} %",
    }  # fmt: skip


def _row(name: str, row: dict[str, Any]) -> str:
    """Return one row of the table in the text report."""
    line = "{:24}{:>9} {:>8}  {:>8}      {}   {}  {}     {:>8}  {:>10}"
    return line.format(printable(name, 24), *_cells(row).values())


def _format_counts(data: dict[str, Any]) -> str:
    """Return the counts of answers by status as text."""
    return ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in data["answers"].items() if n)


def lines(data: dict[str, Any], judged: Judged) -> Iterator[str]:
    """Yield the report on one engine as lines of text.

    data : the result of `as_dict` for `judged`.
    """
    exam = data["set"]
    every = data["all"]
    seconds = data["seconds"]
    yield f"{data['engine']}: {exam['name'] or 'a set'}, {exam['questions']:,} questions ({exam['digest'][:12]})"
    yield f"  {exam['purpose'] or exam['origin']}"
    yield f"  {_format_counts(data)}"
    yield f"  {seconds['all']:.3g} s, {1000 * seconds['mean']:.2g} ms an answer"
    yield from ("", "Findings" if data["findings"] else "Findings: none")
    yield from (f"  {one['words']}" for one in data["findings"])
    if every:
        yield ""
        yield f"{'':24}decisions    wrong      best   equity lost  st. error  worst    points lost    MWC lost"
        yield _row("all", every)
        for by, parts in data["by"].items():
            if len(parts) > 1:
                shown = sorted(parts, key=lambda name: -parts[name]["decisions"])[:SHOWN]
                yield f"by {by}" + f" (the {SHOWN} most frequent of {len(parts)})" * (len(parts) > SHOWN)
                yield from (_row(f"  {name}", row) for name, row in parts.items() if name in shown)
    for name, row in data["calibration"].items():
        yield (
            f"{name}: {row['answers']:,} answers, mean error {row['mean_error']:+.5f}, "
            f"rms {row['rms_error']:.5f}, greatest {row['greatest_error']:.5f}"
        )
    yield from ("", "The worst") if data["worst"] else ()
    for place, one in enumerate(data["worst"]):
        unit = "points" if one["unit"] == "points" else "MWC"
        yield f"  {one['question']}: {one['did']}, best {one['best']}, costs {one['loss']:.5f} {unit}"
        if place < 3:
            position = judged.exam.questions(np.array([one["number"]]))[0].position
            yield from (f"    {line}" for line in draw(position).splitlines())


# -- as a page ---------------------------------------------------------------------------------------------

#: headings of the plots, by the names of `calibration`
CALIBRATIONS = {
    "equity, money": "Equity, for money",
    "equity, score": "Match win probability, at scores",
    "win, money": "Game win probability, for money",
    "win, score": "Game win probability, at scores",
}


def _section(data: dict[str, Any], judged: Judged, *, named: bool) -> Iterator[str]:
    """Yield the report of one engine as HTML."""
    exam = data["set"]
    if named:
        yield f"<h2>{escaped(data['engine'], 80)}</h2>"
    about = f"{exam['name']}: {exam['questions']:,} questions, {exam['purpose']}. "
    about += f"Created by {exam['origin']}. SHA-256 {exam['digest']}."
    yield f'<p class="soft">{escaped(about, 600)}</p>'
    yield f"<p>{_format_counts(data)}; {data['seconds']['all']:.2f} s.</p>"
    yield "<h3>Findings</h3>"
    yield from (f"<p>{escaped(one['words'], 400)}</p>" for one in data["findings"] or [{"words": "none"}])
    if data["all"]:
        headings = "".join(f"<th>{name}</th>" for name in _cells(data["all"]) if name != "st. error")
        yield '<div class="scroll"><table><thead><tr><th class="l"></th>'
        yield f"{headings}</tr></thead><tbody>"
        yield _html_row("all", data["all"])
        for by, parts in data["by"].items():
            if len(parts) > 1:
                yield f'<tr><th class="l" colspan="8">by {by}</th></tr>'
                yield from (_html_row(name, row) for name, row in parts.items())
        yield "</tbody></table></div>"
        yield "<h3>Losses</h3>"
        counts = np.histogram(judged.equity[judged.decided], np.concatenate([[-1], BINS]))[0].tolist()
        names = ["none", *(f"to {edge:g}" for edge in BINS[1:])]
        yield plots.bars(dict(zip(names, counts, strict=True)))
    if data["calibration"]:
        yield '<h3>Calibration</h3><div class="plots">'
        for name, one in data["calibration"].items():
            plot = plots.calibration(name, one["bins"])
            yield f"<figure><figcaption>{CALIBRATIONS[name]}</figcaption>{plot}</figure>"
        yield "</div>"
    if data["worst"]:
        yield '<h3>The worst</h3><div class="cards">'
        for one in data["worst"]:
            question = judged.exam.questions(np.array([one["number"]]))[0]
            yield (
                f'<article class="card"><p class="soft">{escape(one["question"])}</p>{board(question.state)}'
                f"<p>{escape(one['did'])}, best {escape(one['best'])} "
                f'<span class="loss">{one["loss"]:.5f} {one["unit"]}</span></p></article>'
            )
        yield "</div>"


def _html_row(title: str, row: dict[str, Any]) -> str:
    """Return one row of the table in the HTML report."""
    shown = "".join(f"<td>{cell}</td>" for name, cell in _cells(row).items() if name != "st. error")
    return f'<tr><td class="l">{escaped(title, 60)}</td>{shown}</tr>'
