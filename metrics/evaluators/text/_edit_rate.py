"""The edits of TER: Levenshtein's and shifts of phrases, searched as Tercom does. Compiled loops; import on use."""

from collections.abc import Sequence

import numpy as np

from metrics.core.array_types import Ints
from metrics.vision.compiled.jit import compiled, int64

SUBSTITUTED, DELETED, INSERTED, SAME = 0, 1, 2, 3
BEAM = 25  # words on either side of the diagonal that an alignment may be
LONGEST_SHIFT, FARTHEST_SHIFT = 10, 50  # words
MOST_CANDIDATES = 1_000
FAR = 1 << 40
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
        row[j] = FAR
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
def _shifted(words: Ints, start: int, length: int, target: int, into: Ints) -> int:
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
def _edits(candidate: Ints, reference: Ints) -> int:
    """Return the number of edits; words are numbers."""
    n, m = len(candidate), len(reference)
    ratio = m / n if n else 1.0
    words, trial, best_words = candidate.copy(), candidate.copy(), candidate.copy()
    table, moves = np.zeros((n + 1, m + 1), np.int64), np.zeros((n + 1, m + 1), np.int64)
    for j in range(m + 1):
        table[0, j], moves[0, j] = j, INSERTED
    rows, spare = np.zeros((2, m + 1), np.int64), np.zeros(m + 1, np.int64)
    aligned, wrong_reference, wrong = np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(n, np.int64)
    shifts = checked = changed = int64(0)
    while True:
        for i in range(changed + 1, n + 1):
            _row(i, words[i - 1], reference, table[i - 1], table[i], moves[i], ratio, int64(1) if i == n else int64(0))
        i, j = int64(n), int64(m)
        while i > 0 or j > 0:  # which words are aligned, and which are wrong
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
        before = table[n, m]
        found = int64(0)
        best_gain = best_length = best_start = best_target = best_changed = int64(0)
        full = int64(0)
        for start in range(n):
            for place in range(max(int64(0), start - FARTHEST_SHIFT), min(int64(m), start + FARTHEST_SHIFT + 1)):
                length = int64(0)
                errors = wrong_errors = int64(0)
                while (
                    length < LONGEST_SHIFT
                    and start + length < n
                    and place + length < m
                    and words[start + length] == reference[place + length]
                ):
                    errors += wrong[start + length]
                    wrong_errors += wrong_reference[place + length]
                    length += 1
                    if (
                        errors == 0
                        or wrong_errors == 0
                        or (start <= aligned[place] and aligned[place] < start + length)
                    ):
                        continue
                    previous = int64(-1)
                    for offset in range(-1, length):
                        target = int64(0) if place + offset == -1 else aligned[place + offset] + 1
                        if target == previous:
                            continue
                        previous = target
                        first = _shifted(words, start, length, target, trial)
                        above = table[first]
                        for i in range(first + 1, n + 1):
                            own = rows[i % 2]
                            _row(i, trial[i - 1], reference, above, own, spare, ratio, int64(1) if i == n else int64(0))
                            above = own
                        gain = before - above[m]
                        checked += 1
                        better = (
                            found == 0
                            or gain > best_gain
                            or (
                                gain == best_gain
                                and (
                                    length > best_length
                                    or (
                                        length == best_length
                                        and (start < best_start or (start == best_start and target < best_target))
                                    )
                                )
                            )
                        )
                        if better:
                            found = int64(1)
                            best_gain, best_length, best_start, best_target = gain, length, start, target
                            best_changed = first
                            for k in range(n):
                                best_words[k] = trial[k]
                    if checked >= MOST_CANDIDATES:
                        full = int64(1)
                        break
                if full == 1:
                    break
            if full == 1:
                break
        if checked >= MOST_CANDIDATES or best_gain <= 0:
            edits: int = shifts + before
            return edits
        shifts += 1
        changed = best_changed
        for k in range(n):
            words[k] = best_words[k]
