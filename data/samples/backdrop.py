"""What stands behind and below the harbour's things: sky, hills, sea, a mole with its rock, a quay."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from harbour import FINE, HEIGHT, WIDTH, Colour, Mood, shade
from PIL import Image, ImageDraw


@dataclass(frozen=True)
class Layout:
    """Where things are, in pixels of the final image: horizon, quay's edge (None: open sea), lighthouse's rock."""

    horizon: float
    quay: float | None = None
    rock: tuple[float, float, float] | None = None  # x and y of the top of the lighthouse's rock, its width


def backdrop(layout: Layout, mood: Mood, random: Random) -> Image.Image:
    """The empty scene, FINE times as large as the final image."""
    image = _gradients(layout, mood)
    _disc(image, layout, mood, random)
    _clouds(image, layout, mood, random)
    draw = ImageDraw.Draw(image)
    for height, near in ((34, 0.25), (18, 0.6)):
        _hills(draw, layout, mood, random, height, near)
    _waves(image, layout, mood, random)
    draw = ImageDraw.Draw(image)
    if layout.rock:
        _rock(draw, layout.rock, layout.horizon, mood, random)
    if layout.quay is not None:
        _quay(draw, layout.quay, mood, random)
    return image


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """`first` with `share` of `second` in it."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def lit(colour: Colour, mood: Mood) -> Colour:
    """The colour in the mood's light."""
    red, green, blue = (round(part * factor) for part, factor in zip(colour, mood.light, strict=True))
    return red, green, blue


def _gradients(layout: Layout, mood: Mood) -> Image.Image:
    horizon = round(layout.horizon * FINE)
    rows = np.empty((HEIGHT * FINE, 3))
    for first, last, stops in ((0, horizon, mood.sky), (horizon, HEIGHT * FINE, mood.sea)):
        places = np.linspace(0, len(stops) - 1, last - first)
        for part in range(3):
            rows[first:last, part] = np.interp(places, range(len(stops)), [stop[part] for stop in stops])
    return Image.fromarray(
        np.broadcast_to(rows.round().astype(np.uint8)[:, None], (HEIGHT * FINE, WIDTH * FINE, 3)).copy(), "RGB"
    )


def _disc(image: Image.Image, layout: Layout, mood: Mood, random: Random) -> None:
    """Sun or moon with its glow, and its path on the water."""
    if not mood.disc:
        return
    colour, height = mood.disc
    x, y = round(random.uniform(0.15, 0.85) * WIDTH) * FINE, round(layout.horizon * (1 - height)) * FINE
    layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    for radius, alpha in ((46, 26), (34, 40), (24, 60), (15, 255)):
        draw.ellipse([x - radius * FINE, y - radius * FINE, x + radius * FINE, y + radius * FINE], (*colour, alpha))
    horizon = round(layout.horizon) * FINE
    draw.rectangle([0, horizon, image.width, image.height], (0, 0, 0, 0))
    for row in range(26):
        across, middle = random.randint(5, 14 + row) * FINE, x + random.randint(-3, 3) * FINE
        top = horizon + (3 + row * row * 3 // 13) * FINE
        draw.rounded_rectangle(
            [middle - across, top, middle + across, top + FINE * 1.4], FINE, (*colour, max(16, 120 - row * 4))
        )
    image.paste(layer, (0, 0), layer)


def _clouds(image: Image.Image, layout: Layout, mood: Mood, random: Random) -> None:
    layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    colour = mix(mood.sky[-1], (255, 255, 255), 0.5 if min(mood.light) > 0.7 else 0.1)
    for _ in range(random.randint(2, 5)):
        x, y, size = random.uniform(0, WIDTH), random.uniform(0.1, 0.66) * layout.horizon, random.uniform(14, 34)
        for _ in range(random.randint(3, 5)):
            across, down = size * random.uniform(0.6, 1.3), size * random.uniform(0.22, 0.42)
            left, base = x + random.uniform(-1.3, 1.3) * size, y
            box = [round(value) * FINE for value in (left - across, base - down, left + across, base + down)]
            draw.chord(box, 180, 360, (*colour, 150))
    image.paste(layer, (0, 0), layer)


def _hills(draw: ImageDraw.ImageDraw, layout: Layout, mood: Mood, random: Random, height: float, near: float) -> None:
    """A ridge along the horizon, lower towards one side."""
    fill = mix(mix(mood.land, mood.haze, mood.fading), mood.land, near * (1 - mood.fading))
    lean, top = random.choice((-1, 1)), 0.0
    points: list[tuple[int, int]] = [(0, round(layout.horizon * FINE))]
    for step in range(25):
        across = step / 24
        slope = 0.5 + 0.5 * lean * (2 * across - 1)
        top = 0.62 * top + 0.38 * random.uniform(0.1, 1.5) * height * slope
        points.append((round(across * WIDTH) * FINE, round((layout.horizon - top) * FINE)))
    draw.polygon([*points, (WIDTH * FINE, round(layout.horizon * FINE))], fill)


def _waves(image: Image.Image, layout: Layout, mood: Mood, random: Random) -> None:
    """Short strokes, longer and farther apart towards the viewer."""
    layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    depth = HEIGHT - layout.horizon
    for _ in range(150):
        near = random.random() ** 1.3
        x, y = random.uniform(-10, WIDTH), layout.horizon + 2 + near * (depth - 2)
        long, thick = round((4 + 26 * near) * random.uniform(0.6, 1.3)) * FINE, round((0.5 + 1.3 * near) * FINE)
        bright = random.random() < 0.6
        colour = mix(mood.sea[0], (255, 255, 255), 0.3 * min(mood.light)) if bright else shade(mood.sea[1], 0.86)
        left, top = round(x * FINE), round(y * FINE)
        draw.rounded_rectangle([left, top, left + long, top + thick], thick // 2, (*colour, 84 if bright else 60))
    image.paste(layer, (0, 0), layer)


def _rock(
    draw: ImageDraw.ImageDraw, rock: tuple[float, float, float], horizon: float, mood: Mood, random: Random
) -> None:
    """The islet that a lighthouse stands on."""
    x, y, width = rock
    far = mood.fading * max(0.0, 1 - (y - horizon) / 40)
    stone = mix(lit((122, 116, 110), mood), mood.haze, far)
    base = y + width * 0.16
    edge = [
        (x - width * 0.72, base),
        (x - width * 0.5, y + width * 0.04),
        (x - width * 0.3, y - 1),
        (x + width * 0.34, y - 1),
    ]
    edge += [(x + width * 0.52, y + width * 0.06), (x + width * 0.78, base)]
    _polygon(draw, edge, stone)
    for _ in range(5):
        left = x + random.uniform(-0.5, 0.36) * width
        top = y + random.uniform(0.02, 0.08) * width
        _polygon(
            draw,
            [(left, top), (left + 0.16 * width, top + 0.02 * width), (left + 0.1 * width, base)],
            shade(stone, 0.86),
        )
    foam = [(x - width * 0.8, base), (x + width * 0.86, base), (x + width * 0.8, base + 2), (x - width * 0.7, base + 2)]
    _polygon(draw, foam, mix(mood.sea[0], (255, 255, 255), 0.3 * min(mood.light)))


def _quay(draw: ImageDraw.ImageDraw, edge: float, mood: Mood, random: Random) -> None:
    """A stone quay along the lower edge, with its wall, slabs and bollards."""
    slab = lit((176, 166, 150), mood)
    wall = 13
    _polygon(draw, [(0, edge), (WIDTH, edge), (WIDTH, HEIGHT), (0, HEIGHT)], slab)
    _polygon(draw, [(0, edge), (WIDTH, edge), (WIDTH, edge + 4), (0, edge + 4)], shade(slab, 1.12))
    _polygon(draw, [(0, edge - wall), (WIDTH, edge - wall), (WIDTH, edge), (0, edge)], shade(slab, 0.58))
    for left in range(-20, WIDTH, 40):
        offset = left + random.randint(0, 8)
        _polygon(
            draw,
            [(offset, edge - wall), (offset + 2, edge - wall), (offset + 2, edge), (offset, edge)],
            shade(slab, 0.5),
        )
    row, apart, top = 0, 16.0, edge + 4
    while top < HEIGHT:
        _polygon(
            draw,
            [(0, top + apart), (WIDTH, top + apart), (WIDTH, top + apart + 1), (0, top + apart + 1)],
            shade(slab, 0.9),
        )
        for column in range(-1, 9):
            left = column * 66 + (33 if row % 2 else 0) + (top - edge) * 0.2
            _polygon(
                draw, [(left, top), (left + 1, top), (left + 1, top + apart), (left, top + apart)], shade(slab, 0.92)
            )
        row, top, apart = row + 1, top + apart, apart * 1.3
    for column in range(3):
        x, y = 60 + column * 170 + random.randint(-14, 14), edge + 6
        iron = lit((58, 62, 70), mood)
        _polygon(draw, [(x - 5, y), (x + 5, y), (x + 4, y - 12), (x - 4, y - 12)], iron)
        _polygon(draw, [(x - 8, y - 11), (x + 8, y - 11), (x + 6, y - 16), (x - 6, y - 16)], shade(iron, 1.2))


def _polygon(draw: ImageDraw.ImageDraw, points: Sequence[tuple[float, float]], fill: Colour) -> None:
    draw.polygon([(round(x * FINE), round(y * FINE)) for x, y in points], fill)
