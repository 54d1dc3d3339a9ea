"""Flat illustrations of a harbour, drawn with Pillow: backgrounds, things, and which pixel belongs to which thing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

Colour = tuple[int, int, int]
Point = tuple[float, float]

WIDTH, HEIGHT = 480, 360
FINE = 3  # everything is drawn this much larger and then averaged, which smooths the edges


@dataclass(frozen=True)
class Mood:
    """Light and weather: gradients from top to bottom, what distance fades into and how much, how bright things are."""

    sky: tuple[Colour, ...]
    sea: tuple[Colour, Colour]
    land: Colour
    haze: Colour
    fading: float
    light: tuple[float, float, float] = (1.0, 1.0, 1.0)
    disc: tuple[Colour, float] | None = None  # sun or moon: colour, height above the horizon as a share of the sky
    lamps: bool = False


MOODS = {
    "day": Mood(
        ((104, 172, 220), (208, 232, 240)), ((112, 176, 196), (34, 106, 146)), (112, 150, 128), (206, 226, 234), 0.45,
    ),
    "morning": Mood(
        ((142, 186, 216), (228, 220, 206), (255, 222, 184)), ((216, 202, 184), (74, 130, 156)), (138, 152, 150),
        (250, 222, 192), 0.5, disc=((255, 246, 214), 0.3),
    ),
    "dusk": Mood(
        ((64, 62, 116), (200, 104, 118), (252, 184, 120)), ((214, 138, 118), (50, 54, 100)), (96, 74, 104),
        (232, 156, 124), 0.5, (0.78, 0.7, 0.78), ((255, 226, 150), 0.12), lamps=True,
    ),
    "night": Mood(
        ((9, 16, 42), (24, 40, 80), (46, 68, 108)), ((32, 52, 88), (8, 18, 42)), (20, 32, 58),
        (34, 52, 88), 0.5, (0.4, 0.46, 0.64), ((238, 238, 222), 0.72), lamps=True,
    ),
    "fog": Mood(
        ((188, 198, 204), (220, 224, 225)), ((204, 212, 215), (122, 146, 156)), (176, 188, 192),
        (216, 221, 223), 0.86, (0.95, 0.96, 0.97),
    ),
    "overcast": Mood(
        ((122, 136, 152), (198, 206, 210)), ((136, 156, 164), (54, 82, 98)), (108, 126, 126),
        (190, 200, 206), 0.5, (0.9, 0.92, 0.95),
    ),
}  # fmt: skip


@dataclass
class Thing:
    """One object: its class and look, where its base stands (pixels of the final image), its width, its distance."""

    label: str
    look: str
    x: float
    y: float
    width: float
    distance: float  # 0 near … 1 at the horizon
    mirrored: bool = False
    colour: Colour = (200, 60, 50)
    seed: int = 0
    crowd: int = 0  # more than 0: one of a flock of that number, annotated together
    afloat: bool = True


class Pen:
    """Draws one thing in its own units: 100 is its width, x from its middle, y upwards from its base."""

    def __init__(self, thing: Thing) -> None:
        self.unit = thing.width * FINE / 100
        self.mirrored = thing.mirrored
        self.colour = thing.colour
        self.random = Random(thing.seed)  # noqa: S311
        low, high = REACH[thing.look]
        self.left, self.top = 62 * self.unit, high * self.unit
        size = (round(124 * self.unit) + 2, round((high - low) * self.unit) + 2)
        self.image = Image.new("RGBA", size, (*thing.colour, 0))
        self.draw = ImageDraw.Draw(self.image)
        self.lamps: list[tuple[float, float, float]] = []

    def at(self, x: float, y: float) -> Point:
        """The pixel of a point in the thing's units."""
        return (round(self.left + (-x if self.mirrored else x) * self.unit), round(self.top - y * self.unit))

    def shape(self, points: Sequence[Point], fill: Colour) -> None:
        """A filled polygon."""
        self.draw.polygon([self.at(*point) for point in points], fill)

    def box(self, left: float, bottom: float, right: float, top: float, fill: Colour) -> None:
        """A filled rectangle."""
        self.shape([(left, bottom), (right, bottom), (right, top), (left, top)], fill)

    def oval(self, x: float, y: float, across: float, high: float, fill: Colour) -> None:
        """A filled ellipse around (x, y) with these radii."""
        (left, top), (right, bottom) = self.at(x - across, y + high), self.at(x + across, y - high)
        self.draw.ellipse([min(left, right), top, max(left, right), bottom], fill)

    def line(self, points: Sequence[Point], fill: Colour, thick: float = 2.0) -> None:
        """A line through points."""
        self.draw.line([self.at(*point) for point in points], fill, max(1, round(thick * self.unit)), joint="curve")

    def lamp(self, x: float, y: float, radius: float) -> None:
        """A light that shines when the mood has lamps."""
        self.lamps.append((x, y, radius))


def shade(colour: Colour, factor: float) -> Colour:
    """The colour made darker (factor below 1) or lighter (above 1)."""
    red, green, blue = (min(255, max(0, round(part * factor))) for part in colour)
    return red, green, blue


WHITE, CREAM, DARK, GLASS = (244, 244, 240), (236, 226, 204), (52, 56, 66), (92, 128, 150)


def sailing_boat(pen: Pen) -> None:
    """A sloop with main sail and jib."""
    pen.line([(0, 6), (0, 118)], (120, 96, 74), 2.4)
    pen.shape([(-3, 18), (-3, 114), (-24, 62), (-40, 18)], WHITE)
    pen.shape([(-3, 18), (-3, 60), (-30, 44), (-40, 18)], (228, 228, 224))
    pen.shape([(4, 106), (4, 18), (44, 14), (22, 56)], CREAM if pen.random.random() < 0.5 else pen.colour)
    pen.shape([(-44, 12), (50, 14), (36, -5), (-36, -5)], pen.colour)
    pen.shape([(-44, 12), (50, 14), (48, 9), (-42, 7)], WHITE)
    pen.shape([(-38, -1), (40, -1), (36, -5), (-36, -5)], shade(pen.colour, 0.6))
    pen.lamp(0, 118, 3)


def fishing_boat(pen: Pen) -> None:
    """A trawler with a wheelhouse and a boom."""
    pen.line([(-30, 18), (-30, 74)], (110, 90, 72), 2.6)
    pen.line([(-30, 70), (-46, 30)], (110, 90, 72), 1.8)
    pen.line([(-30, 72), (12, 42)], (96, 96, 100), 1.2)
    pen.line([(-30, 72), (46, 24)], (96, 96, 100), 1.0)
    pen.box(-14, 16, 20, 44, WHITE)
    pen.box(-17, 44, 24, 48, pen.colour)
    for left in (-9, 3):
        pen.box(left, 28, left + 9, 39, GLASS)
        pen.lamp(left + 4.5, 33, 4)
    pen.box(-42, 16, -22, 22, (196, 154, 96))
    pen.shape([(-50, 20), (-46, -6), (38, -6), (52, 28), (34, 19)], pen.colour)
    pen.shape([(-50, 20), (-49, 14), (49, 21), (52, 28), (34, 19)], shade(pen.colour, 1.35))
    pen.shape([(-47, -1), (40, -1), (38, -6), (-46, -6)], shade(pen.colour, 0.5))


def rowing_boat(pen: Pen) -> None:
    """A dinghy with an oar."""
    pen.line([(-6, 12), (-56, -4)], (176, 140, 98), 2.6)
    pen.shape([(-46, 22), (-24, 16), (22, 16), (48, 26), (34, -4), (-34, -4)], pen.colour)
    pen.shape([(-44, 20), (-24, 15), (22, 15), (46, 24), (30, 12), (-30, 11)], (150, 112, 76))
    pen.shape([(-40, 9), (40, 11), (38, 6), (-38, 4)], shade(pen.colour, 1.4))


def motor_boat(pen: Pen) -> None:
    """A motor boat with a windscreen."""
    pen.shape([(-20, 20), (14, 20), (2, 40), (-20, 40)], WHITE)
    pen.shape([(-16, 24), (6, 24), (-2, 36), (-16, 36)], GLASS)
    pen.line([(-20, 40), (-20, 58)], DARK, 1.6)
    pen.shape([(-48, 22), (54, 26), (30, -4), (-44, -4)], WHITE)
    pen.shape([(-48, 14), (46, 15), (38, 6), (-46, 5)], pen.colour)
    pen.box(-52, -2, -46, 18, DARK)
    pen.lamp(-20, 58, 3)


def container_ship(pen: Pen) -> None:
    """A container ship with its bridge astern."""
    colours = [(188, 84, 60), (60, 108, 150), (214, 164, 66), (96, 138, 104), (150, 150, 154), (120, 84, 124)]
    for column in range(9):
        for row in range(pen.random.randint(1, 4)):
            left, bottom = -24 + column * 7.2, 14 + row * 5
            fill = pen.random.choice(colours)
            pen.box(left, bottom, left + 6.8, bottom + 4.7, fill)
            pen.box(left, bottom, left + 6.8, bottom + 1, shade(fill, 0.78))
    pen.box(-42, 12, -27, 42, WHITE)
    pen.box(-46, 40, -25, 45, WHITE)
    pen.box(-40, 36, -27, 39, GLASS)
    for deck in (18, 24, 30):
        for left in (-40, -36, -32):
            pen.box(left, deck, left + 2, deck + 2.4, GLASS)
            pen.lamp(left + 1, deck + 1.2, 1)
    pen.box(-48, 14, -43, 36, pen.colour)
    pen.line([(44, 18), (44, 32)], DARK, 1.0)
    pen.shape([(-52, 16), (-48, -5), (44, -5), (54, 20), (44, 15)], pen.colour)
    pen.shape([(-49, -1), (46, -1), (44, -5), (-48, -5)], (150, 56, 48))
    pen.lamp(44, 32, 1.6)


def ferry(pen: Pen) -> None:
    """A white ferry with rows of windows."""
    pen.box(-34, 30, 22, 42, WHITE)
    pen.box(-40, 17, 32, 30, (232, 232, 228))
    pen.shape([(8, 42), (26, 42), (22, 50), (10, 50)], WHITE)
    pen.box(12, 44, 24, 47, GLASS)
    pen.shape([(-24, 42), (-12, 42), (-14, 56), (-23, 56)], pen.colour)
    pen.shape([(-24, 51), (-12.6, 51), (-14, 56), (-23, 56)], DARK)
    for deck, first, last in ((34, -31, 19), (22, -36, 28)):
        for left in range(first, last, 5):
            pen.box(left, deck, left + 3, deck + 4, GLASS)
            pen.lamp(left + 1.5, deck + 2, 1.3)
    pen.shape([(-52, 18), (-48, -5), (42, -5), (54, 21), (40, 17)], WHITE)
    pen.shape([(-51, 10), (48, 11), (44, 1), (-49, 1)], pen.colour)
    pen.shape([(-49, -1), (43, -1), (42, -5), (-48, -5)], DARK)


def buoy(pen: Pen) -> None:
    """A navigation buoy: float, lattice, top mark."""
    pen.shape([(-50, 16), (50, 16), (38, -14), (-38, -14)], pen.colour)
    pen.oval(0, 16, 50, 9, shade(pen.colour, 1.2))
    pen.shape([(-26, 18), (26, 18), (14, 96), (-14, 96)], pen.colour)
    pen.shape([(4, 18), (26, 18), (14, 96), (4, 96)], shade(pen.colour, 0.78))
    pen.shape([(-22, 46), (22, 46), (19, 62), (-19, 62)], WHITE)
    pen.line([(0, 96), (0, 116)], DARK, 6)
    if pen.random.random() < 0.5:
        pen.shape([(-18, 112), (18, 112), (0, 142)], shade(pen.colour, 0.85))
    else:
        pen.box(-15, 112, 15, 138, shade(pen.colour, 0.85))
    pen.lamp(0, 104, 12)


def gull_flying(pen: Pen) -> None:
    """A gull with its wings spread."""
    lift = pen.random.uniform(14, 34)
    far = (204, 210, 216)
    pen.shape([(-2, 2), (-14, lift), (-30, lift + 8), (-50, lift - 4), (-30, lift - 2), (-10, -6)], (236, 238, 240))
    pen.shape([(-40, lift + 3), (-50, lift - 4), (-34, lift - 3)], DARK)
    pen.shape([(2, 2), (16, lift + 2), (32, lift + 6), (50, lift - 8), (32, lift - 4), (12, -6)], far)
    pen.shape([(40, lift - 1), (50, lift - 8), (35, lift - 5)], DARK)
    pen.oval(0, -2, 13, 6.5, WHITE)
    pen.oval(13, 1, 5.5, 5, WHITE)
    pen.shape([(17, 2), (25, -1), (17, -2)], (236, 160, 60))
    pen.shape([(-10, -4), (-22, -7), (-20, 0)], WHITE)


def gull_standing(pen: Pen) -> None:
    """A gull on its feet (or, with its feet hidden, afloat)."""
    pen.line([(-4, 0), (-4, 26)], (222, 140, 70), 4)
    pen.line([(8, 0), (8, 26)], (222, 140, 70), 4)
    pen.shape([(-50, 44), (-20, 62), (-10, 36)], DARK)
    pen.oval(0, 44, 36, 22, WHITE)
    pen.shape([(18, 52), (-30, 62), (-46, 46), (-14, 34), (10, 38)], (176, 184, 194))
    pen.oval(28, 74, 17, 16, WHITE)
    pen.shape([(20, 50), (38, 52), (40, 76), (14, 70)], WHITE)
    pen.shape([(42, 78), (60, 70), (42, 68)], (236, 160, 60))
    pen.oval(33, 78, 3, 3, DARK)


def wooden_crate(pen: Pen) -> None:
    """A crate of planks with a diagonal brace."""
    wood = pen.colour
    pen.box(-50, 0, 50, 88, shade(wood, 0.72))
    for row in range(4):
        pen.box(-46, 4 + row * 20.5, 46, 21 + row * 20.5, shade(wood, 0.96 + 0.06 * (row % 2)))
    pen.shape([(-44, 8), (-32, 8), (44, 80), (32, 80)], shade(wood, 1.14))
    for edge in (-50, 38):
        pen.box(edge, 0, edge + 12, 88, shade(wood, 1.1))
    for edge in (0, 77):
        pen.box(-50, edge, 50, edge + 11, shade(wood, 1.18))
    for x in (-44, 44):
        for y in (5.5, 82.5):
            pen.oval(x, y, 2.4, 2.4, shade(wood, 0.55))


def fish_crate(pen: Pen) -> None:
    """A low plastic crate with slots."""
    pen.shape([(-50, 58), (50, 58), (44, 0), (-44, 0)], pen.colour)
    pen.box(-52, 52, 52, 62, shade(pen.colour, 1.25))
    for column in range(5):
        left = -36 + column * 15.5
        pen.box(left, 12, left + 9, 40, shade(pen.colour, 0.66))


def lighthouse(pen: Pen) -> None:
    """A banded tower with gallery, lantern and dome."""
    light, top = WHITE, 250
    for band in range(5):
        low, high = band * top / 5, (band + 1) * top / 5
        narrow, wide = 46 - 20 * high / top, 46 - 20 * low / top
        fill = pen.colour if band % 2 else light
        pen.shape([(-wide, low), (wide, low), (narrow, high), (-narrow, high)], fill)
        pen.shape([(wide * 0.25, low), (wide, low), (narrow, high), (narrow * 0.25, high)], shade(fill, 0.84))
    pen.shape([(-10, 0), (10, 0), (10, 24), (0, 32), (-10, 24)], DARK)
    for y in (82, 176):
        pen.box(-6, y, 6, y + 18, GLASS)
    pen.box(-40, top, 40, top + 10, DARK)
    pen.box(-20, top + 10, 20, top + 46, (250, 226, 140))
    for x in (-20, -7, 7, 20):
        pen.line([(x, top + 8), (x, top + 46)], DARK, 3)
    pen.shape([(-27, top + 44), (27, top + 44), (16, top + 62), (0, top + 70), (-16, top + 62)], pen.colour)
    pen.line([(0, top + 68), (0, top + 84)], DARK, 3)
    pen.lamp(0, top + 28, 20)


LOOKS: dict[str, Callable[[Pen], None]] = {
    look.__name__: look
    for look in (
        sailing_boat, fishing_boat, rowing_boat, motor_boat, container_ship, ferry, buoy, gull_flying, gull_standing,
        wooden_crate, fish_crate, lighthouse,
    )
}  # fmt: skip
REACH = {  # lowest and highest y a look draws at
    "sailing_boat": (-8, 122), "fishing_boat": (-8, 78), "rowing_boat": (-8, 30), "motor_boat": (-8, 62),
    "container_ship": (-8, 50), "ferry": (-8, 60), "buoy": (-18, 146), "gull_flying": (-12, 48),
    "gull_standing": (-4, 94), "wooden_crate": (-2, 92), "fish_crate": (-2, 66), "lighthouse": (-2, 338),
}  # fmt: skip


@dataclass
class Picture:
    """A finished illustration: the image, and for each pixel of the FINE drawing the number of the thing seen, or 0."""

    image: Image.Image
    owner: np.ndarray
    full: dict[int, int] = field(default_factory=dict)  # pixels of each thing as if nothing hid it


def paint(scene: Image.Image, things: Sequence[Thing], mood: Mood) -> Picture:
    """Paint things onto a background, the first farthest away; thing i is number i + 1."""
    canvas = scene.copy()
    owner = Image.new("L", canvas.size, 0)
    full = {}
    for number, thing in enumerate(things, 1):
        pen = Pen(thing)
        LOOKS[thing.look](pen)
        colours = np.asarray(pen.image).astype(float)
        fade = mood.fading * thing.distance
        colours[..., :3] = colours[..., :3] * mood.light * (1 - fade) + np.array(mood.haze) * fade
        layer = Image.fromarray(colours.round().astype(np.uint8), "RGBA")
        corner = (round(thing.x * FINE - pen.left), round(thing.y * FINE - pen.top))
        if thing.afloat:
            _shadow(canvas, thing)
        canvas.paste(layer, corner, layer)
        solid = layer.getchannel("A").point(lambda alpha: 255 if alpha > 127 else 0)
        full[number] = int(np.count_nonzero(np.asarray(solid)))
        owner.paste(number, corner, solid)
        if mood.lamps:
            for x, y, radius in pen.lamps:
                across, down = pen.at(x, y)
                _glow(canvas, (across + corner[0], down + corner[1]), radius * pen.unit, 1 - 0.6 * fade)
    return Picture(canvas.convert("RGB").reduce(FINE), np.asarray(owner), full)


def _shadow(canvas: Image.Image, thing: Thing) -> None:
    """The dark water below something afloat."""
    across, down = round(thing.width * FINE * 0.5), max(2, round(thing.width * FINE * 0.045))
    layer = Image.new("RGBA", (across * 2, down * 2), (0, 0, 0, 0))
    ImageDraw.Draw(layer).ellipse([0, 0, across * 2 - 1, down * 2 - 1], (12, 30, 46, 70))
    canvas.paste(layer, (round(thing.x * FINE) - across, round(thing.y * FINE) - down // 3), layer)


def _glow(canvas: Image.Image, centre: Point, radius: float, strength: float) -> None:
    """A warm light with its halo."""
    reach = max(3, round(radius * 4))
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    apart = np.hypot(rows, columns) / reach
    halo = np.clip(1 - apart, 0, 1) ** 2 * 150 * strength
    halo[apart * 4 < 1] = 255
    light = np.empty((*apart.shape, 4), np.uint8)
    light[..., :3] = (255, 224, 150)
    light[..., 3] = halo.round()
    layer = Image.fromarray(light, "RGBA").filter(ImageFilter.BoxBlur(0.6))
    canvas.paste(layer, (round(centre[0]) - reach, round(centre[1]) - reach), layer)
