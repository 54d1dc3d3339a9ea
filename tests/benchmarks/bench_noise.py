"""How often the 95 % intervals of shares of the noise hold the true share, and how far shares are off on average.

    python -m tests.benchmarks.bench_noise

A line per design: scores are normal, or right or wrong with a chance that differs from case to case. Then how often the
interval of a mean over cases and variants of the prompt holds, without and with the part of the prompts. Ten seconds.
"""

import numpy as np
from numpy.typing import NDArray

from metrics.stats.student_t import student
from metrics.stats.variance_components import crossed_mean, expanded_tail, resampled_components

SAMPLES, RESAMPLES = 400, 400
DESIGNS = [(cases, repeats, share) for cases in (20, 40, 100) for repeats, share in ((2, 0.3), (3, 0.2), (3, 0.5))]


def main() -> None:
    print(f"{'share of repeats in the noise of a mean':<56}{'held %':>8}{'mean':>8}")
    for cases, repeats, share in DESIGNS:
        ratio = repeats * share / (1 - share)  # of the variances of repeats and cases
        rng, case = np.random.default_rng(0), np.repeat(np.arange(cases), repeats)
        normal = [rng.normal(0, 1, cases)[case] + rng.normal(0, ratio**0.5, cases * repeats) for _ in range(SAMPLES)]
        _print(f"normal, {cases} cases × {repeats}, {share:.0%}", normal, repeats, share)
        # of a chance drawn from Beta(a, a): variance between cases 1 / (4·(2a + 1)), within 2a times as large
        half = ratio / 2
        binary = [
            (rng.random(cases * repeats) < rng.beta(half, half, cases)[case]).astype(float) for _ in range(SAMPLES)
        ]
        _print(f"right or wrong, {cases} cases × {repeats}, {share:.0%}", binary, repeats, share)

    print(f"{'mean over cases × prompts':<56}{'before':>8}{'now':>8}")
    for cases in (20, 100):
        for prompts in (3, 5, 10):
            for spread in (0.0, 0.1, 0.3, 0.6):
                rng, held = np.random.default_rng(cases * prompts), np.zeros((SAMPLES * 5, 2))
                for row in held:
                    shapes = ((cases, 1), (1, prompts), (cases, prompts))
                    case, prompt, rest = (rng.normal(size=shape) for shape in shapes)
                    values = case + spread * prompt + 0.7 * rest
                    alone = student(cases - 1) * values.mean(axis=1).std(ddof=1) / cases**0.5
                    row[:] = [abs(values.mean()) <= half for half in (alone, crossed_mean(values).half_width)]
                before, now = 100 * held.mean(axis=0)
                print(f"{cases} cases × {prompts}, ± {spread}".ljust(56) + f"{before:>8.1f}{now:>8.1f}", flush=True)


def _print(name: str, samples: list[NDArray[np.float64]], repeats: int, share: float) -> None:
    held, means = [], []
    cases = len(samples[0]) // repeats
    case, repeat = np.repeat(np.arange(cases), repeats), np.tile(np.arange(repeats), cases)
    tail = expanded_tail(cases)
    for seed, values in enumerate(samples):
        made = resampled_components(values, case, repeat, seed=seed, resamples=RESAMPLES)
        found, drawn = made
        between, within, _ = found.parts(1, repeats)
        parts = drawn[:, 2] / repeats
        low, high = np.quantile(parts / (parts + drawn[:, 1] + 1e-12), [tail, 1 - tail])
        held.append(low <= share <= high)
        means.append(within / (within + between + 1e-12))
    print(f"{name:<56}{100 * np.mean(held):>8.1f}{np.mean(means):>8.3f}", flush=True)


if __name__ == "__main__":
    main()
