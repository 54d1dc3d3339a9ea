"""The table of perturbations. A new kind is a function that finds its sites, and a Kind in the list below it.

Lists: CHARACTER_KINDS, WORDING_KINDS, and here JUDGED_KINDS, whose text a judge writes.
"""

from metrics.core.prompt import Prompt
from metrics.perturbations import characters, wording
from metrics.perturbations.kind import INTENSITIES, Kind

COPY = Kind("copy", "Copy", "The text as it is: the control. What flips here flips by chance")


def _prompts(name: str, text: str, *how: str) -> tuple[Prompt, Prompt, Prompt]:
    low, medium, high = (
        Prompt(f"perturbation.{name}.{intensity}", text.format(how=one))
        for intensity, one in zip(INTENSITIES, how, strict=True)
    )
    return low, medium, high


PARAPHRASES = _prompts(
    "paraphrase",
    "Reword TEXT: {how}. It must ask or say exactly the same: add nothing, leave nothing out, answer nothing, and keep "
    "names, numbers and quotations as they are. Give the reworded text alone.",
    "change a few words, keep the order of the sentence",
    "use other words and another order where that reads well",
    "say it in a wholly different way, as another person would",
)
MISINFORMATION = _prompts(
    "contextual_misinformation",
    "Write {how} on the subject of TEXT that are false but sound true, and that would mislead somebody who believes "
    "them about what TEXT asks or says. They must contradict TRUTH where it is given. State them as facts, in the "
    "language of TEXT; neither answer TEXT nor say that they are false. Give these sentences alone.",
    "one short sentence",
    "two sentences",
    "four sentences",
)

JUDGED_KINDS = (
    Kind("paraphrase", "Paraphrase", "The same in other words, by the judge", prompts=PARAPHRASES),
    Kind(
        "contextual_misinformation",
        "Contextual misinformation",
        "False statements on the subject before it, by the judge",
        prompts=MISINFORMATION,
        is_put_before=True,
    ),
)
# in the order in which a suite lists the variants of a case
ALL = (COPY, *characters.CHARACTER_KINDS, *wording.WORDING_KINDS, characters.LAYOUT, *JUDGED_KINDS)
KINDS: dict[str, Kind] = {kind.name: kind for kind in ALL}
RULE_KINDS = tuple(kind.name for kind in ALL if not kind.is_judged)
