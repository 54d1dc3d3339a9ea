"""The kinds of perturbation whose text a judge writes, and their prompts."""

from metrics.core.prompt import Prompt
from metrics.perturbations.kind import INTENSITIES, Kind


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

KINDS = (
    Kind("paraphrase", "Paraphrase", "The same in other words, by the judge", prompts=PARAPHRASES),
    Kind(
        "contextual_misinformation", "Contextual misinformation",
        "False statements on the subject before it, by the judge", prompts=MISINFORMATION, is_put_before=True,
    ),
)  # fmt: skip
