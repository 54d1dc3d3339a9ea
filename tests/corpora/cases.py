"""Cases of a corpus: one thing planted, or one look-alike, amid the talk of many languages and formats."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle

Draw = random.Random
Finding = tuple[str, int, int]  # kind, from, to

# What stands around: none of it is itself a finding, nor a word that makes a number a telephone number.
PROSE = (
    "Please note {} before Friday.", "It says {}, as agreed.", "({})", "We have {} on file.", '"{}"', "→ {}",
    "Bitte {} bis morgen prüfen.", "Das steht so da: {}.", "Merci de vérifier {} avant lundi.", "C'est bien « {} ».",
    "Anote {} en la ficha, por favor.", "Segnato come {} nel registro.", "Запишите {} в журнал.", "В деле указано: {}.",
    "記録には{}とあります。", "备注为{}，请核对。", "기록에는 {} 이라고 적혀 있습니다.", "سجل {} في الملف من فضلك.",
    "कृपया {} को देखें।", "Lütfen {} değerini kontrol edin.", "Zapisano {} w aktach.", "Está no processo: {}.",
)  # fmt: skip
FORMATS = (
    '{{"value": "{}", "ok": true}}', "2024-03-05T10:00:01Z INFO value={} status=200", "| 17 | {} | open |",
    "<td>{}</td>", "name;{};done", "- {}\n- none", "UPDATE t SET v = '{}' WHERE id = 4;", "value: {}\nother: 1", "{}",
    "`{}`", "<note>{}</note>", "Subject: news\n\n{}\n\n-- \nthe desk",
)  # fmt: skip
HELD_OUT_PROSE = (
    "Somebody wrote {} on the wall!", "Did you mean {}?", "Ich habe {} notiert; danke.", "On lit {} sur la fiche.",
    "Se indicó {}; gracias.", "Там было {}?", "内容は「{}」でした。", "上面写着{}。", "Kayıtta {} yazıyor.", "[{}]",
    "W notatce jest {}!", "Ele disse {}.", "ملاحظة: {}.",
)  # fmt: skip
HELD_OUT_FORMATS = (
    "[section]\nvalue = {}\n", '<a title="{}">here</a>', "1,{},open", "WARN 12:01 value={};", "{{'v': '{}'}}",
    "> {}\n\nnoted", "# {}", "let v = '{}';",
)  # fmt: skip
ANY = (*PROSE, *FORMATS)
HELD_OUT = (*HELD_OUT_PROSE, *HELD_OUT_FORMATS)


@dataclass(frozen=True)
class Piece:
    """What is written into a case: `value` is the finding, where there is one, with what has to stand beside it."""

    value: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """All that is written."""
        return self.before + self.value + self.after


Make = Callable[[Draw], str | Piece]


@dataclass(frozen=True)
class Planted:
    """A generator of findings of one kind; `fits`: the surroundings it may stand in; `options` of the finder."""

    kind: str
    make: Make
    fits: Sequence[str] = ANY
    options: Mapping[str, str] = field(default_factory=dict)
    dummy: bool = False


@dataclass(frozen=True)
class Case:
    """One text; `findings` are all that is in it. `name` is its generator's."""

    name: str
    text: str
    findings: tuple[Finding, ...]
    options: Mapping[str, str]
    dummy: bool


def corpus(
    planted: Mapping[str, Planted], look_alikes: Mapping[str, Make], size: int, seed: int, held_out: bool = False
) -> list[Case]:
    """As many cases with a finding as with a look-alike, every generator equally often.

    `held_out` takes other surroundings, so that a rule cannot have been fitted to them; what fits into few keeps those.
    """
    rng = Draw(f"{'held out' if held_out else 'seen'} {seed}")
    cases = []
    for (name, entry), (other, make) in zip(cycle(planted.items()), cycle(look_alikes.items()), strict=False):
        if len(cases) >= size:
            return cases
        around = HELD_OUT if held_out else ANY
        cases.append(_case(name, entry, rng.choice(around if entry.fits is ANY else entry.fits), rng))
        text = _surrounded(rng.choice(around), _piece(make, rng))[0]
        cases.append(Case(other, text, (), {}, False))
    return cases


def _case(name: str, entry: Planted, around: str, rng: Draw) -> Case:
    piece = _piece(entry.make, rng)
    text, start = _surrounded(around, piece)
    return Case(name, text, ((entry.kind, start, start + len(piece.value)),), entry.options, entry.dummy)


def _piece(make: Make, rng: Draw) -> Piece:
    made = make(rng)
    return made if isinstance(made, Piece) else Piece(made)


def _surrounded(around: str, piece: Piece) -> tuple[str, int]:
    """The text, and where the piece's value begins in it."""
    before, _, after = around.partition("{}")
    before, after = (part.replace("{{", "{").replace("}}", "}") for part in (before, after))
    return before + piece.text + after, len(before) + len(piece.before)


@dataclass
class Tally:
    """How often a kind was planted, found where it stands, and found where it does not stand."""

    planted: int = 0
    right: int = 0
    wrong: int = 0

    @property
    def precision(self) -> float:
        """Of what was found the share that is right, span and all; 1 where nothing was found."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Of what was planted the share found, span and all."""
        return self.right / self.planted if self.planted else 1.0


@dataclass
class Measured:
    """Tallies by kind, and by generator how many were missed and how many found that are none."""

    kinds: dict[str, Tally] = field(default_factory=dict)
    missed: Counter[str] = field(default_factory=Counter)
    mistaken: Counter[str] = field(default_factory=Counter)

    def below(self, floor: float, exempt: Iterable[str] = ()) -> dict[str, tuple[float, float]]:
        """The kinds whose precision or recall is below the floor."""
        return {
            kind: (tally.precision, tally.recall)
            for kind, tally in self.kinds.items()
            if min(tally.precision, tally.recall) < floor and kind not in exempt
        }


def measure(cases: Sequence[Case], find: Callable[[Case], set[Finding]]) -> Measured:
    """What a finder finds in the cases beside what is there; a span off by a character is missed and mistaken."""
    measured = Measured()
    for case in cases:
        there, seen = set(case.findings), find(case)
        for kind, *_ in there | seen:
            measured.kinds.setdefault(kind, Tally())
        for kind, *_ in there:
            measured.kinds[kind].planted += 1
        for kind, *_ in there & seen:
            measured.kinds[kind].right += 1
        for kind, *_ in seen - there:
            measured.kinds[kind].wrong += 1
        measured.missed[case.name] += len(there - seen)
        measured.mistaken[case.name] += len(seen - there)
    return measured
