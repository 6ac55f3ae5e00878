"""A judged exam in words, as JSON, and as an HTML page with plots; two engines side by side."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import erfc, sqrt
from typing import Any

import numpy as np

from bgfmt.extras.exam.candidates import STATUS
from bgfmt.extras.exam.findings import findings
from bgfmt.extras.exam.judging import Judged
from bgfmt.extras.exam.sets import DOUBLE, EQUITY, KINDS, PLAY, Array
from bgfmt.extras.matches.annotate.page import POLICY, STYLE
from bgfmt.game.display import DEFINITIONS, board
from bgfmt.game.drawing import draw, printable
from bgfmt.game.moves import legal_plays

SHOWN = 16  # groups in text
BINS = np.array([1e-7, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 10])
Groups = dict[str, dict[str, Array]]


def groups(judged: Judged) -> Groups:
    """(N,) bool of the questions of each group, by what they are grouped by."""
    exam = judged.exam
    most = np.maximum(exam.us.sum(axis=1, dtype=int), exam.them.sum(axis=1, dtype=int))
    scores = {"money": ~judged.match}
    for a, b, crawford in np.unique(
        np.column_stack([exam.away, exam.crawford])[judged.match], axis=0
    ).tolist():
        name = f"{a}-{b} away" + ", Crawford" * crawford
        scores[name] = (exam.away == (a, b)).all(axis=1) & (exam.crawford == crawford)
    return {
        "kind": {kind: exam.kind == k for k, kind in enumerate(KINDS) if k != EQUITY},
        "chequers": {f"{n}": most == n for n in range(1, 16)},
        "score": scores,
        "stratum": {name: exam.stratum == k for k, name in enumerate(exam.strata)}
        if len(exam.strata) > 1
        else {},
    }


def figures(judged: Judged, rows: Array) -> dict[str, Any] | None:
    """What some decisions cost: means weighted by how often a question comes up. None where there are none."""
    rows = rows & judged.decided
    many = int(rows.sum())
    if not many:
        return None
    weight, loss = judged.exam.weight[rows], judged.equity[rows]
    mean = float(np.average(loss, weights=weight))
    error = sqrt(float(np.sum(weight**2 * (loss - mean) ** 2))) / float(weight.sum())
    out: dict[str, Any] = {
        "decisions": many, "wrong": int(judged.wrong[rows].sum()), "wrong_share": float(judged.wrong[rows].mean()),
        "equity_lost": mean, "standard_error": error, "worst_equity": float(loss.max()),
    }  # fmt: skip
    money, match = rows & ~judged.match, rows & judged.match
    out["points_lost"] = float(judged.points[money].mean()) if money.any() else None
    out["worst_points"] = float(judged.points[money].max()) if money.any() else None
    out["mwc_lost"] = float(judged.loss[match].mean()) if match.any() else None
    out["worst_mwc"] = float(judged.loss[match].max()) if match.any() else None
    return out


def calibration(judged: Judged) -> dict[str, Any]:
    """How far equities and chances to win are from the true ones."""
    exam = judged.exam
    out: dict[str, Any] = {}
    for k, name in enumerate(("equity", "win")):
        for where, mask in (("money", ~judged.match), ("score", judged.match)):
            off = judged.off[k][mask]
            off = off[~np.isnan(off)]
            if len(off):
                out[f"{name}, {where}"] = {
                    "answers": len(off), "mean_error": float(off.mean()),
                    "rms_error": float(np.sqrt((off**2).mean())),
                    "greatest_error": float(np.abs(off).max()),
                }  # fmt: skip
    if "equity, money" in out:
        rows = (exam.kind == EQUITY) & ~np.isnan(judged.off[0]) & ~judged.match
        said, off = judged.answers.numbers[rows, 0], judged.off[0][rows]
        place = np.clip(np.floor((said + 1) * 5), 0, 9).astype(int)
        out["bins"] = [
            [float(said[place == k].mean()), float((said - off)[place == k].mean()), int((place == k).sum())]
            for k in range(10)
            if (place == k).any()
        ]
    return out


def case(judged: Judged, number: int) -> dict[str, Any]:
    """One decision in words."""
    exam, answers = judged.exam, judged.answers
    question = exam.questions(np.array([number]))[0]
    worths, choice = exam.of(number), int(answers.choice[number])
    if exam.kind[number] == PLAY:
        assert question.dice is not None
        named = {
            play.result.us.padded(exam.points): str(play)
            for play in legal_plays(question.position, *question.dice)
        }
        names = [named.get(tuple(play), "") for play in question.plays]
        did, best = names[choice], names[int(worths.argmax())]
    else:
        rolling, taken, passed, beaver = worths.tolist()
        words = ("roll", "double") if exam.kind[number] == DOUBLE else ("pass", "take", "beaver")
        ranked = [rolling, float(np.fmin(np.fmin(taken, passed), beaver))]
        if exam.kind[number] != DOUBLE:
            ranked = [-passed, -taken, -beaver]
        did, best = words[choice], words[int(np.nanargmax(ranked))]
    return {
        "number": number, "question": str(question), "kind": question.kind, "position_id": question.position.id,
        "did": did, "best": best, "loss": float(judged.loss[number]), "equity_lost": float(judged.equity[number]),
        "unit": "mwc" if judged.match[number] else "points",
    }  # fmt: skip


def worst(judged: Judged, most: int) -> list[int]:
    """Numbers of the dearest decisions."""
    equity = np.where(judged.wrong, np.nan_to_num(judged.equity), 0)
    order = np.argsort(-equity, kind="stable")[:most]
    return [int(k) for k in order if equity[k] > 0]


def paired(a: Judged, b: Judged) -> dict[str, Any]:
    """Two candidates on the decisions that both answered; differences are of equities lost, first less second."""
    rows = a.decided & b.decided
    gap, weight = (a.equity - b.equity)[rows], a.exam.weight[rows]
    many = int(rows.sum())
    mean = float(np.average(gap, weights=weight)) if many else 0.0
    error = sqrt(float(np.sum(weight**2 * (gap - mean) ** 2))) / float(weight.sum()) if many else 0.0
    first, second = int((a.wrong & ~b.wrong)[rows].sum()), int((b.wrong & ~a.wrong)[rows].sum())
    sure = abs(mean) / error if error else 0.0
    odd = abs(first - second) / sqrt(first + second) if first + second else 0.0
    return {
        "decisions": many, "difference": mean, "standard_error": error, "p": erfc(sure / sqrt(2)),
        "wrong_first_only": first, "wrong_second_only": second, "p_wrong": erfc(odd / sqrt(2)),
    }  # fmt: skip


def as_dict(judged: Judged, most: int) -> dict[str, Any]:
    """All of it, for JSON."""
    exam, answers, seconds = judged.exam, judged.answers, judged.answers.seconds
    return {
        "engine": judged.name,
        "set": exam.as_dict(),
        "answers": {status.replace(" ", "_"): judged.count(status) for status in STATUS},
        "seconds": {
            "all": float(seconds.sum()),
            "mean": float(seconds.mean()),
            "greatest": float(seconds.max(initial=0)),
        },
        "findings": [
            {
                "name": one["name"],
                "words": one["words"],
                "cause": one.get("cause") or None,
                "questions": one["questions"],
            }
            for one in findings(judged)
        ],
        "all": figures(judged, np.ones(len(exam), np.bool_)),
        "by": {
            by: {name: made for name, mask in parts.items() if (made := figures(judged, mask))}
            for by, parts in groups(judged).items()
        },
        "calibration": {name: row for name, row in calibration(judged).items() if name != "bins"},
        "bins": calibration(judged).get("bins", []),
        "worst": [case(judged, number) for number in worst(judged, most)],
        "failures": [
            {"number": n, "status": STATUS[int(answers.status[n])], "words": words}
            for n, words in sorted(answers.words.items())
        ],
    }


# -- in words ------------------------------------------------------------------------------------------------------


def lines(told: dict[str, Any], judged: Judged) -> Iterator[str]:
    """The report as text."""
    exam, answers, every = told["set"], told["answers"], told["all"]
    yield f"{told['engine']}: {exam['name'] or 'a set'}, {exam['questions']:,} questions ({exam['digest'][:12]})"
    yield f"  {exam['purpose'] or exam['origin']}"
    yield "  " + ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in answers.items() if n)
    yield f"  {told['seconds']['all']:.3g} s, {1000 * told['seconds']['mean']:.2g} ms an answer"
    yield ""
    yield "Findings" if told["findings"] else "Findings: none"
    yield from (f"  {one['words']}" for one in told["findings"])
    if every:
        yield ""
        yield f"{'':24}decisions    wrong      best   equity lost  st. error  worst    points lost    MWC lost"
        yield _row("all", every)
        for by, parts in told["by"].items():
            if len(parts) > 1:
                shown = sorted(parts, key=lambda name: -parts[name]["decisions"])[:SHOWN]
                yield f"by {by}" + f" (the {SHOWN} most frequent of {len(parts)})" * (len(parts) > SHOWN)
                yield from (_row(f"  {name}", row) for name, row in parts.items() if name in shown)
    for name, row in told["calibration"].items():
        yield (
            f"{name}: {row['answers']:,} answers, mean error {row['mean_error']:+.5f}, "
            f"rms {row['rms_error']:.5f}, greatest {row['greatest_error']:.5f}"
        )
    for place, one in enumerate(told["worst"]):
        if not place:
            yield from ("", "The worst")
        unit = "points" if one["unit"] == "points" else "MWC"
        yield f"  {one['question']}: {one['did']}, best {one['best']}, costs {one['loss']:.5f} {unit}"
        if place < 3:
            position = judged.exam.questions(np.array([one["number"]]))[0].position
            yield from (f"    {line}" for line in draw(position).splitlines())


def _row(name: str, row: dict[str, Any]) -> str:
    points = "" if row["points_lost"] is None else f"{row['points_lost']:.6f}"
    mwc = "" if row["mwc_lost"] is None else f"{100 * row['mwc_lost']:.4f} %"
    return (
        f"{printable(name, 24):24}{row['decisions']:9,} {row['wrong']:8,}  {100 * (1 - row['wrong_share']):6.2f} %"
        f"      {row['equity_lost']:.6f}   {row['standard_error']:.6f}  {row['worst_equity']:.4f}"
        f"     {points:>8}  {mwc:>10}"
    )


def pair_lines(told: dict[str, Any], first: str, second: str) -> Iterator[str]:
    """The comparison as text."""
    yield ""
    yield f"{first} beside {second}, {told['decisions']:,} decisions of both"
    yield (
        f"  equity lost, first less second: {told['difference']:+.6f}, standard error {told['standard_error']:.6f}, "
        f"p {told['p']:.2g} (paired)"
    )
    first_only, second_only = (f"{told[f'wrong_{which}_only']:,}" for which in ("first", "second"))
    yield f"  wrong in the first alone {first_only}, in the second alone {second_only}, p {told['p_wrong']:.2g}"


# -- as a page ---------------------------------------------------------------------------------------------

PLOT = """.plot{display:block;width:100%;max-width:34rem;height:auto}
.plot rect{fill:var(--x)}.plot circle{fill:var(--bad)}
.plot line{stroke:var(--line)}.plot text{font:11px system-ui,sans-serif;fill:var(--text)}.plot .e{text-anchor:end}
.plot .m{text-anchor:middle}"""


def page(parts: list[tuple[dict[str, Any], Judged]], pair: dict[str, Any] | None) -> str:
    """The reports of one or two engines as HTML, with no request to anywhere."""
    title = " beside ".join(printable(told["engine"], 80) for told, _ in parts)
    out = ['<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">']
    out.append(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">')
    out.append(
        '<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">'
    )
    out.append(f"<title>{escape(title)}</title><style>{STYLE}{PLOT}</style></head><body>{DEFINITIONS}<main>")
    out.append(f"<h1>{escape(title)}</h1>")
    if pair is not None:
        words = pair_lines(pair, *(told["engine"] for told, _ in parts))
        out += [f"<p>{escape(printable(line, 400))}</p>" for line in words if line]
    for told, judged in parts:
        out += _section(told, judged)
    return "\n".join([*out, "</main></body></html>", ""])


def _section(told: dict[str, Any], judged: Judged) -> Iterator[str]:
    exam = told["set"]
    yield f"<h2>{escape(printable(told['engine'], 80))}</h2>"
    about = f"{exam['name']}: {exam['questions']:,} questions, {exam['purpose']}. "
    about += f"Made by {exam['origin']}. SHA-256 {exam['digest']}."
    yield f'<p class="soft">{escape(printable(about, 600))}</p>'
    given = ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in told["answers"].items() if n)
    yield f"<p>{given}; {told['seconds']['all']:.2f} s.</p>"
    yield "<h3>Findings</h3>"
    yield from (
        f"<p>{escape(printable(one['words'], 400))}</p>" for one in told["findings"] or [{"words": "none"}]
    )
    if told["all"]:
        yield '<div class="scroll"><table><thead><tr><th class="l"></th><th>decisions</th><th>wrong</th><th>best</th>'
        yield "<th>equity lost</th><th>worst</th><th>points lost</th><th>MWC lost</th></tr></thead><tbody>"
        yield _cells("all", told["all"])
        for by, parts in told["by"].items():
            if len(parts) > 1:
                yield f'<tr><th class="l" colspan="8">by {by}</th></tr>'
                yield from (_cells(name, row) for name, row in parts.items())
        yield "</tbody></table></div>"
        yield "<h3>Losses</h3>"
        counts = np.histogram(judged.equity[judged.decided], np.concatenate([[-1], BINS]))[0].tolist()
        names = ["none", *(f"to {edge:g}" for edge in BINS[1:])]
        yield _bars(dict(zip(names, counts, strict=True)))
    if told["bins"]:
        yield "<h3>Equities said (across) and true (up), for money</h3>"
        yield _scatter(told["bins"])
    if told["worst"]:
        yield '<h3>The worst</h3><div class="cards">'
        for one in told["worst"]:
            question = judged.exam.questions(np.array([one["number"]]))[0]
            yield (
                f'<article class="card"><p class="soft">{escape(one["question"])}</p>{board(question.state)}'
                f"<p>{escape(one['did'])}, best {escape(one['best'])} "
                f'<span class="loss">{one["loss"]:.5f} {one["unit"]}</span></p></article>'
            )
        yield "</div>"


def _cells(name: str, row: dict[str, Any]) -> str:
    points = "" if row["points_lost"] is None else f"{row['points_lost']:.6f}"
    mwc = "" if row["mwc_lost"] is None else f"{100 * row['mwc_lost']:.4f} %"
    cells = (
        f"{row['decisions']:,}", f"{row['wrong']:,}", f"{100 * (1 - row['wrong_share']):.2f} %",
        f"{row['equity_lost']:.6f}",
        f"{row['worst_equity']:.4f}", points, mwc,
    )  # fmt: skip
    return (
        f'<tr><td class="l">{escape(printable(name, 60))}</td>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
    )


def _bars(counts: dict[str, int]) -> str:
    """Bars by name, as long as the logarithm of the counts."""
    most = np.log10(1 + max(counts.values()))
    out = [
        f'<svg class="plot" viewBox="0 0 480 {20 * len(counts) + 4}" role="img" aria-label="decisions by loss">'
    ]
    for k, (name, count) in enumerate(counts.items()):
        y, width = 20 * k + 2, 300 * np.log10(1 + count) / most
        out.append(
            f'<text class="e" x="76" y="{y + 13}">{name}</text><rect x="82" y="{y}" width="{width:.1f}" height="16"/>'
        )
        out.append(f'<text x="{88 + width:.1f}" y="{y + 13}">{count:,}</text>')
    return "".join([*out, "</svg>"])


def _scatter(bins: list[list[float]]) -> str:
    """True equities by those said."""
    out = ['<svg class="plot" viewBox="0 0 320 320" role="img" aria-label="calibration">']
    out.append('<line x1="20" y1="300" x2="300" y2="20"/><line x1="20" y1="160" x2="300" y2="160"/>')
    out.append('<line x1="160" y1="20" x2="160" y2="300"/><text class="m" x="160" y="316">0</text>')
    for said, true, many in bins:
        x, y = (160 + 140 * float(np.clip(v, -1.1, 1.1)) for v in (said, -true))
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2 + np.log10(many):.1f}"/>')
    return "".join([*out, "</svg>"])
