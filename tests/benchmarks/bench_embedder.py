"""The embedder against a bare SentenceTransformer.encode, and against itself with a full cache.

    python -m tests.benchmarks.bench_embedder [SENTENCES]

The same distinct sentences (20,000) in one process on one thread; wall and processor time, since other work on the
machine disturbs wall time. Then the second run, in a new embedder that finds all vectors on disk, and the memory that
comparing takes, for a quarter of the pairs and for all.
"""

import random
import resource
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from metrics.models.embedder import BUNDLED, bundled_folder, compare, load, open_embedder
from tests.benchmarks.table import Row, report, versions

WORDS = (
    "the a this that each river mill heron train letter window market doctor engine garden winter report council "
    "measures opens carries follows repairs answers visits describes old quiet distant heavy early second northern "
    "before after near beyond because while without against carefully often nearly never"
).split()
MOST_FIRST, MOST_AGAIN = 1.15, 0.05


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    texts = sentences(count)
    import torch

    torch.set_num_threads(1)
    model = load(bundled_folder())
    model.encode(texts[:64], show_progress_bar=False)
    bare = timed("bare SentenceTransformer.encode", count, lambda: model.encode(texts, show_progress_bar=False))
    with tempfile.TemporaryDirectory() as folder:
        embedder = open_embedder(BUNDLED, Path(folder))
        embedder.encode(["the model is loaded by now, as the bare one was"])
        first = timed("embedder, nothing cached", count, lambda: embedder.encode(texts))
        second = timed("embedder, all cached, new", count, lambda: open_embedder(BUNDLED, Path(folder)).encode(texts))
        for some in (count // 4, count):
            print(f"comparing {some:>7,} pairs: peak of {peak(embedder, texts[:some]) / 1e6:.0f} MB allocated")
    print(f"largest resident set: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")
    title, peer = f"embeddings of {count:,} sentences, processor time", versions("sentence-transformers")
    rows = [
        Row(title, first, "s", bare, f"bare encode of {peer}", most=MOST_FIRST),
        Row(f"{title}, again", second, "s", first, "the first time", most=MOST_AGAIN),
    ]
    report(rows)


def sentences(count: int) -> list[str]:
    """Distinct sentences of 5 to 25 words, seeded."""
    generator = random.Random(7)
    return [
        f"{' '.join(generator.choices(WORDS, k=generator.randint(4, 24)))} {index}.".capitalize()
        for index in range(count)
    ]


def timed(title: str, count: int, work: Callable[[], object]) -> float:
    """Print seconds of wall and processor; return the latter."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{title:<34}{wall:8.2f} s wall {processor:8.2f} s processor {count / processor:9,.0f} sentences/s")
    return processor


def peak(embedder: object, texts: list[str]) -> int:
    """The most memory allocated while every text is compared with the next one, many times over."""
    tracemalloc.start()
    pairs = ((texts[index : index + 1], texts[index + 1 : index + 2]) for index in range(len(texts)))
    for _ in compare(embedder, pairs):  # type: ignore[arg-type]
        pass
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


if __name__ == "__main__":
    main()
