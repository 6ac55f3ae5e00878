"""What is wrong with an engine, named: one answer to all, wrong where questions have something in common, slow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bgfmt.extras.exam.candidates import ANSWERED, STATUS
from bgfmt.extras.exam.judging import Judged
from bgfmt.extras.exam.sets import DOUBLE, EQUITY, KINDS, MISTAKES, OWNERS, PLAY, TAKE, Array

FEW = 20  # questions fewer than which show nothing
SURE = 6.0  # standard deviations by which a share of wrong answers stands out
AGREE = 0.97  # share of answers that a mistake must explain
SLOW = 0.001  # seconds an answer, on average
STALL = 0.008  # seconds of one answer, while most take a twentieth of that or less
SAME = 0.995  # share of answers that are one and the same
FAR = 0.05  # an equity that is off by more is wrong, where most are not
ALWAYS = {
    (DOUBLE, 1): "always doubles",
    (DOUBLE, 0): "never doubles",
    (TAKE, 1): "always takes",
    (TAKE, 0): "always passes",
}
Finding = dict[str, Any]


def findings(judged: Judged) -> list[Finding]:
    """What stands out, the plainest first: `name`, `words`, and how many questions it is about."""
    same = list(_same(judged))
    kinds = [KINDS.index(one["kind"]) for one in same]
    return [*_failures(judged), *same, *_units(judged), *_groups(judged, kinds), *_slow(judged)]


def _failures(judged: Judged) -> Iterator[Finding]:
    count = len(judged.exam)
    for status in STATUS[1:]:
        many = judged.count(status)
        if many:
            of = judged.exam.kind[judged.answers.status == STATUS.index(status)]
            kinds = ", ".join(f"{n} of {KINDS[k]}" for k, n in enumerate(np.bincount(of, minlength=4)) if n)
            first = next(
                (
                    w
                    for k, w in judged.answers.words.items()
                    if judged.answers.status[k] == STATUS.index(status)
                ),
                "",
            )
            words = f"{many:,} of {count:,} {status}, 1 in {round(count / many):,} ({kinds})"
            yield {"name": status, "words": words + (f": {first}" if first else ""), "questions": many}


def _same(judged: Judged) -> Iterator[Finding]:
    exam, choice = judged.exam, judged.answers.choice
    for (kind, always), words in ALWAYS.items():
        rows = (exam.kind == kind) & judged.decided
        if rows.sum() >= FEW and (choice[rows] == always).mean() >= SAME and judged.wrong[rows].sum() >= 3:
            many = (choice[rows] == always).sum()
            said = (
                f"{words}: this answer to {many:,} of {rows.sum():,}, wrong in {judged.wrong[rows].sum():,}"
            )
            yield {"name": words, "words": said, "questions": int(rows.sum()), "kind": KINDS[kind]}


def _equities(judged: Judged) -> tuple[Array, Array]:
    """(N,) the equities said and the true ones as equities of the cube at hand."""
    exam = judged.exam
    low, high = exam.ends.T
    rows = np.flatnonzero((exam.kind == EQUITY) & (judged.answers.status == ANSWERED))
    true = np.full(len(exam), np.nan)
    true[rows] = exam.worths[exam.starts[rows]]
    scale = np.where(judged.match, (high - low) / 2, 1.0)
    middle = np.where(judged.match, (high + low) / 2, 0.0)
    return (judged.answers.numbers[:, 0] - middle) / scale, (true - middle) / scale


def _units(judged: Judged) -> Iterator[Finding]:
    """Equities in another unit or of the other side, all of them."""
    exam = judged.exam
    rows = np.flatnonzero((exam.kind == EQUITY) & (judged.answers.status == ANSWERED))
    if len(rows) < FEW:
        return
    said, true = judged.answers.numbers[rows, 0], exam.worths[exam.starts[rows]]
    whole = np.where(judged.match[rows], 1.0, 0.0)  # what both sides have together
    other = {
        "equities are those of the other side": whole - true, "equities are in hundredths": 100 * true,
        "equities are in thousandths": 1000 * true, "chances to win in place of equities": (1 + true) / 2,
    }  # fmt: skip
    off = np.sqrt(np.mean((said - true) ** 2))
    for words, meant in other.items():
        if np.sqrt(np.mean((said - meant) ** 2)) < 0.2 * off:
            yield {"name": words, "words": words, "questions": len(rows)}


def _traits(judged: Judged) -> dict[str, Array]:
    """(N,) bool by what questions have in common."""
    exam = judged.exam
    sums = np.stack([exam.us.sum(axis=1, dtype=int), exam.them.sum(axis=1, dtype=int)])
    mine, other = exam.away.T.astype(int)
    odd = (mine % 2 == 1, other % 2 == 1)
    traits = {
        "with fifteen chequers": sums.max(axis=0) == 15,
        "with fifteen chequers of the side on roll": sums[0] == 15,
        "at a score": judged.match, "for money": ~judged.match,
        "at odd scores (own points to go)": judged.match & odd[0],
        "at odd scores (the other's points to go)": judged.match & odd[1],
        "at odd scores (all points to go)": judged.match & (odd[0] ^ odd[1]),
        "at odd scores (either side's points to go)": judged.match & (odd[0] | odd[1]),
        "at odd scores (both sides' points to go)": judged.match & odd[0] & odd[1],
        "at odd scores (own points won)": judged.match & ((exam.away.max(axis=1) - mine) % 2 == 1),
        "at odd scores (the other's points won)": judged.match & ((exam.away.max(axis=1) - other) % 2 == 1),
        "in the Crawford game": exam.crawford > 0,
        "with a chequer outside the home board": exam.us[:, 6:].any(axis=1) | exam.them[:, 6:].any(axis=1),
        "with a doublet": (exam.dice[:, 0] == exam.dice[:, 1]) & (exam.kind == PLAY),
        "where beavers are played": exam.beavers > 0,
    }  # fmt: skip
    traits |= {f"where the cube is {owner}": exam.owner == k for k, owner in enumerate(OWNERS)}
    traits |= {f"with {n} chequers of the side on roll": sums[0] == n for n in range(1, 15)}
    for a, b in np.unique(exam.away[judged.match], axis=0).tolist():
        traits[f"at {a}-{b} away"] = (mine == a) & (other == b)
    traits |= {
        f"of {kind}s" if kind != "equity" else "of equities": exam.kind == k for k, kind in enumerate(KINDS)
    }
    return traits


def _groups(judged: Judged, done: list[int]) -> Iterator[Finding]:
    """Where wrong answers are far more than elsewhere, and what they are right for."""
    said, true = _equities(judged)
    off = np.abs(said - true)
    known = ~np.isnan(off)
    usual = float(np.median(off[known])) if known.any() else 0.0
    wrong = judged.wrong | (np.nan_to_num(off) > max(FAR, 10 * usual))
    rows = (judged.decided | known) & ~np.isin(judged.exam.kind, done)
    traits = _traits(judged)
    for _ in range(6):
        best: tuple[float, str, float, float] = (0.0, "", 0.0, 0.0)
        for name, mask in traits.items():
            inside, outside = rows & mask, rows & ~mask
            n, m = int(inside.sum()), int(outside.sum())
            if n < FEW or m < FEW:
                continue
            share, rest = float(wrong[inside].mean()), float(wrong[outside].mean())
            both = float(wrong[rows].mean())
            spread = np.sqrt(max(both * (1 - both), 1e-9) * (1 / n + 1 / m))
            sure = (share - rest) / spread
            if share > 3 * rest + 0.01 and sure > max(SURE, best[0]):
                best = sure, name, share, rest
        if not best[1]:
            return
        mask = traits[best[1]] & rows
        words = f"wrong {best[1]}: {100 * best[2]:.3g} % of {mask.sum():,}, elsewhere {100 * best[3]:.3g} %"
        cause = _cause(judged, mask)
        yield {"name": f"wrong {best[1]}", "words": words + (f"; as with {cause}" if cause else ""),
               "questions": int(mask.sum()), "cause": cause}  # fmt: skip
        rows &= ~mask


def _cause(judged: Judged, mask: Array) -> str:
    """What the answers would be right for, empty where nothing explains them."""
    exam, choice = judged.exam, judged.answers.choice
    rows = np.flatnonzero(mask & np.isin(exam.kind, (DOUBLE, TAKE)) & judged.decided)
    taken = exam.kind[rows] == TAKE

    def right(numbers: Array) -> Array:
        rolling, take, drop = numbers.T
        return np.asarray(np.where(taken, take <= drop, np.minimum(take, drop) > rolling))

    mistaken = exam.mistaken.reshape(-1, len(MISTAKES), 3)
    answers = choice[rows] == 1
    found = [(float((answers == right(exam.triples()[rows][:, :3])).mean()), "")] if len(rows) >= FEW else []
    for k, name in enumerate(MISTAKES):
        numbers = mistaken[rows, k]
        known = ~np.isnan(numbers).any(axis=1)
        if known.sum() >= max(FEW, len(rows) / 2):
            found.append((float((answers == right(numbers))[known].mean()), name))
    if found and max(found)[0] >= AGREE and max(found)[1]:
        return max(found)[1]
    rows = np.flatnonzero(mask & (exam.kind == EQUITY) & (judged.answers.status == ANSWERED))
    for k, name in enumerate(MISTAKES):
        gap = np.abs(mistaken[rows, k, 0] - judged.answers.numbers[rows, 0])
        if len(rows) >= FEW and (gap < 1e-3).mean() >= AGREE:
            return name
    rows = np.flatnonzero(mask & (exam.kind == PLAY) & judged.decided)
    if len(rows) >= FEW:
        worst = np.minimum.reduceat(exam.worths, exam.starts[:-1][np.diff(exam.starts) > 0])
        place = np.cumsum(np.diff(exam.starts) > 0)[rows] - 1
        chosen = exam.worths[exam.starts[rows] + choice[rows]]
        if (chosen - worst[place] < 1e-9).mean() > AGREE:
            return "the worst play taken for the best"
    return ""


def _slow(judged: Judged) -> Iterator[Finding]:
    seconds = judged.answers.seconds[judged.answers.status <= ANSWERED + 2]
    if not len(seconds):
        return
    mean, middle = float(seconds.mean()), float(np.median(seconds))
    stalls = int((seconds > max(STALL, 20 * middle)).sum())
    if mean >= SLOW:
        worst = float(np.quantile(seconds, 0.99))
        words = f"slow: {1000 * mean:.3g} ms an answer, 1 % over {1000 * worst:.3g} ms, {seconds.sum():.3g} s in all"
        yield {"name": "slow", "words": words, "questions": len(seconds)}
    elif stalls >= 5 + len(seconds) / 1000:
        words = (
            f"slow at times: {stalls:,} answers take up to {seconds.max():.3g} s, most {1000 * middle:.2g} ms"
        )
        yield {"name": "slow", "words": words, "questions": stalls}
