"""The edits of TER: Levenshtein's and shifts of phrases, searched as Tercom does. Compiled loops; import on use."""

from collections.abc import Sequence

import numpy as np

from metrics.core.array_types import Ints
from metrics.vision.compiled.jit import compiled, int64

SUBSTITUTED, DELETED, INSERTED, SAME = 0, 1, 2, 3
BEAM = 25  # words on either side of the diagonal that an alignment may be
LONGEST_SHIFT, FARTHEST_SHIFT = 10, 50  # words
MOST_CANDIDATES = 1_000
UNREACHABLE = 1 << 40
FOUND, GAIN, LENGTH, START, TARGET, CHANGED = range(6)  # of the best shift: any, edits saved, phrase, from and to, row
MOST_CELLS = 50_000_000  # of the table of two texts: some 7,000 words each


def edit_count(candidate: Sequence[str], reference: Sequence[str]) -> int | None:
    """Return the number of TER's edits that make the reference of the candidate; None where they are too long.

    An edit inserts, deletes or replaces a word, or shifts a phrase. Shifts are taken as long as they lower the number
    of the other edits, each time the one that lowers it most. Equal to sacreBLEU's, limits of the search included.
    """
    if (len(candidate) + 1) * (len(reference) + 1) > MOST_CELLS:
        return None
    if not reference:
        return len(candidate)
    numbers = {word: number for number, word in enumerate(dict.fromkeys((*candidate, *reference)))}
    made, wanted = (np.array([numbers[word] for word in words], np.int64) for words in (candidate, reference))
    return int(_edits(made, wanted))


@compiled
def _row(i: int, word: int, reference: Ints, above: Ints, row: Ints, moves: Ints, ratio: float, last: int) -> int:
    """Fill row i of the table within the beam: the fewest edits, and the move that each came by."""
    m = len(reference)
    beam = int64(BEAM)
    if beam < ratio / 2:
        beam = int64(np.ceil(ratio / 2 + beam))
    diagonal = int64(np.floor(i * ratio))
    begin, end = max(int64(0), diagonal - beam), min(int64(m + 1), diagonal + beam)
    if last == 1:
        end = int64(m + 1)
    for j in range(m + 1):
        row[j] = UNREACHABLE
    for j in range(begin, end):
        if j == 0:
            row[0], moves[0] = above[0] + 1, DELETED
            continue
        same = word == reference[j - 1]
        best, move = above[j - 1] + (int64(0) if same else int64(1)), int64(SAME) if same else int64(SUBSTITUTED)
        if above[j] + 1 < best:
            best, move = above[j] + 1, int64(DELETED)
        if row[j - 1] + 1 < best:
            best, move = row[j - 1] + 1, int64(INSERTED)
        row[j], moves[j] = best, move
    return 0


@compiled
def _shift(words: Ints, start: int, length: int, target: int, into: Ints) -> int:
    """Put `words` into `into` with the phrase at `start` moved to `target`; return the first place that changes."""
    n = len(words)
    first, end = min(start, target), max(target, start + length)
    if target >= start and target <= start + length:  # within itself: as many words on
        first, end = start, min(int64(n), target + length)
    for place in range(n):
        into[place] = words[place]
    place = first
    if target < start:
        for k in range(length):
            into[place + k] = words[start + k]
        for k in range(target, start):
            into[k + length] = words[k]
        return first
    for k in range(start + length, end):
        into[place] = words[k]
        place += 1
    for k in range(length):
        into[place + k] = words[start + k]
    return first


@compiled
def _align(moves: Ints, aligned: Ints, wrong_reference: Ints, wrong: Ints) -> int:
    """Follow the moves [n + 1, m + 1] back: with which word each of the reference is aligned, and which are wrong."""
    i, j = int64(len(wrong)), int64(len(aligned))
    while i > 0 or j > 0:
        move = moves[i, j]
        if move == DELETED:
            i -= 1
            wrong[i] = 1
            continue
        j -= 1
        aligned[j] = i - 1
        wrong_reference[j] = int64(0) if move == SAME else int64(1)
        if move != INSERTED:
            i -= 1
            wrong[i] = wrong_reference[j]
    return 0


@compiled
def _is_better(gain: int, length: int, start: int, target: int, best: Ints) -> bool:
    """Return whether a shift goes before the best: the larger gain, the longer phrase, then the first places."""
    if best[FOUND] == 0 or gain != best[GAIN]:
        return best[FOUND] == 0 or gain > best[GAIN]  # type: ignore[no-any-return]
    if length != best[LENGTH]:
        return length > best[LENGTH]  # type: ignore[no-any-return]
    return start < best[START] or (start == best[START] and target < best[TARGET])  # type: ignore[no-any-return]


@compiled
def _try_shifts(
    words: Ints,
    reference: Ints,
    start: int,
    length: int,
    place: int,
    aligned: Ints,
    table: Ints,
    ratio: float,
    spare: Ints,
    trial: Ints,
    best: Ints,
    best_words: Ints,
) -> int:
    """Try the phrase at `start` beside each word that the reference's words from `place` on are aligned with.

    The best shift so far is kept in `best` and `best_words`. Returns how many were tried. spare: [3, m + 1], for rows.
    """
    n, m = len(words), len(reference)
    tried, previous = int64(0), int64(-1)
    for offset in range(-1, length):
        target = int64(0) if place + offset == -1 else aligned[place + offset] + 1
        if target == previous:
            continue
        previous = target
        first = _shift(words, start, length, target, trial)
        above = table[first]
        for i in range(first + 1, n + 1):
            own = spare[i % 2]
            _row(i, trial[i - 1], reference, above, own, spare[2], ratio, int64(1) if i == n else int64(0))
            above = own
        gain = table[n, m] - above[m]
        tried += 1
        if _is_better(gain, length, start, target, best):
            best[FOUND], best[GAIN], best[LENGTH] = int64(1), gain, length
            best[START], best[TARGET], best[CHANGED] = start, target, first
            for k in range(n):
                best_words[k] = trial[k]
    return tried


@compiled
def _search(
    words: Ints, reference: Ints, table: Ints, moves: Ints, ratio: float, checked: int, best: Ints, best_words: Ints
) -> int:
    """Search for the best shift until MOST_CANDIDATES were tried, `checked` before; return how many were tried then."""
    n, m = len(words), len(reference)
    aligned, wrong_reference, wrong = np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(n, np.int64)
    spare, trial = np.zeros((3, m + 1), np.int64), words.copy()
    _align(moves, aligned, wrong_reference, wrong)
    for start in range(n):
        for place in range(max(int64(0), start - FARTHEST_SHIFT), min(int64(m), start + FARTHEST_SHIFT + 1)):
            errors = wrong_errors = int64(0)
            for length in range(1, min(int64(LONGEST_SHIFT), n - start, m - place) + 1):
                last, last_reference = start + length - 1, place + length - 1
                if words[last] != reference[last_reference]:
                    break
                errors += wrong[last]
                wrong_errors += wrong_reference[last_reference]
                if errors == 0 or wrong_errors == 0 or start <= aligned[place] < start + length:
                    continue
                checked += _try_shifts(
                    words, reference, start, length, place, aligned, table, ratio, spare, trial, best, best_words
                )
            if checked >= MOST_CANDIDATES:
                return checked
    return checked


@compiled
def _edits(candidate: Ints, reference: Ints) -> int:
    """Return the number of edits; words are numbers."""
    n, m = len(candidate), len(reference)
    ratio = m / n if n else 1.0
    words, best_words, best = candidate.copy(), candidate.copy(), np.zeros(6, np.int64)
    table, moves = np.zeros((n + 1, m + 1), np.int64), np.zeros((n + 1, m + 1), np.int64)
    for j in range(m + 1):
        table[0, j], moves[0, j] = j, INSERTED
    shifts = checked = changed = int64(0)
    while True:
        for i in range(changed + 1, n + 1):
            _row(i, words[i - 1], reference, table[i - 1], table[i], moves[i], ratio, int64(1) if i == n else int64(0))
        best[FOUND] = best[GAIN] = 0
        checked = _search(words, reference, table, moves, ratio, checked, best, best_words)
        if checked >= MOST_CANDIDATES or best[GAIN] <= 0:
            edits: int = shifts + table[n, m]
            return edits
        shifts += 1
        changed = best[CHANGED]
        for k in range(n):
            words[k] = best_words[k]
