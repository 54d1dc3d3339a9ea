"""The settings of a run's judge. They are saved with the run, so keys are never part of them."""

import json
from collections.abc import Collection
from hashlib import sha256
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from metrics.core.errors import InputError, InputProblem
from metrics.judge.local.install import LOCAL, MODEL as KNOWN, gguf_file, weights_of
from metrics.judge.local.short_questions import VERSION

OPTIONS = ("top_p", "seed", "presence_penalty", "frequency_penalty", "reasoning_effort")  # sent only if given
MOST_REPEATS = 25
SHORT = 8  # digits of a sha256 in a name
Combine = Literal["majority", "mean"]


class Budget(BaseModel):
    """The most that a run may spend on its judge; None: no limit. A call counts when it is sent, even if it fails."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    usd: float | None = Field(
        default=None, ge=0, title="Dollars", description="Dollars; the price of the model must be known."
    )
    calls: int | None = Field(default=None, ge=0, description="Requests sent.")
    tokens: int | None = Field(default=None, ge=0, description="Tokens of prompts and replies together.")
    seconds: float | None = Field(default=None, gt=0, description="Wall time after which nothing more is asked.")


class JudgeSettings(BaseModel):
    """The judge of a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1, description='Model name as litellm knows it ("gpt-4o-mini"), or "local".')
    weights: str | None = Field(
        None, description="sha256 of the file of local:FILE, stored with a run; other weights cannot take its place."
    )
    base_url: str | None = Field(None, description="Address of an OpenAI-compatible server (vLLM, Ollama, llama.cpp).")
    temperature: float = Field(0.0, ge=0, le=2, description="Sampling temperature; 0: the likeliest reply.")
    max_tokens: int = Field(4096, ge=16, description="Most tokens of a reply; a longer one is a parse failure.")
    window: int | None = Field(
        None,
        ge=4096,
        description="Most tokens of prompt and reply together; longer texts are divided. Empty: what litellm lists for "
        "the model, 8,192 for the local judge, else 16,384.",
    )
    top_p: float | None = Field(
        None, gt=0, le=1, description="Share of the likeliest tokens that are sampled from; empty: not sent."
    )
    seed: int | None = Field(None, description="Seed of the sampling, where the provider has one; empty: not sent.")
    presence_penalty: float | None = Field(
        None, ge=-2, le=2, description="Penalty on tokens that the reply has already; empty: not sent."
    )
    frequency_penalty: float | None = Field(
        None, ge=-2, le=2, description="Penalty on tokens by how often the reply has them; empty: not sent."
    )
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = Field(
        None, description="How long a reasoning model may think, within max_tokens; empty: not sent."
    )
    probabilities: bool | None = Field(
        None,
        description="Weight verdicts and grades by the labels' probabilities: true asks a provider for them, false "
        "counts labels only; empty: where the judge tells them unasked, as the local one does.",
    )
    prompts: dict[str, str] = Field(default_factory=dict, description="Texts in place of the prompts of these ids.")
    examples: Literal["none", "few"] = Field(
        "none",
        title="Worked examples",
        description="few: the most used prompts show one to three worked examples before the question, which helps "
        "small models and costs tokens.",
    )
    concurrency: int = Field(16, ge=1, le=1024, description="Requests in flight at once.")
    timeout: float = Field(120.0, gt=0, description="Seconds a call may take.")
    tries: int = Field(5, ge=1, description="How often a request is sent before it counts as failed.")
    backoff: float = Field(0.5, ge=0, description="Seconds before the second try; doubled each time.")
    requests_per_minute: float | None = Field(None, gt=0, description="Most requests a minute.")
    tokens_per_minute: float | None = Field(None, gt=0, description="Most tokens a minute.")
    budget: Budget = Field(Budget(), description="Most that the run may spend.")
    replay: str | None = Field(None, description="File of an exported cache: answer from it alone, send no request.")
    repeats: int = Field(
        1,
        ge=1,
        le=MOST_REPEATS,
        description="Independent draws of every question, of which scores are made as those "
        "of a panel; above 1 only with a temperature above 0. A seed counts up from draw to draw.",
    )
    panel: tuple["JudgeSettings", ...] = Field((), description="Further judges, each of which judges every case.")
    combine: Combine = Field(
        "majority",
        description="One score from several judges or draws: majority for yes or no and the mean for the "
        "rest, or the mean for all.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if any(judge.panel for judge in self.panel):
            raise ValueError("judges without panels of their own in a panel")
        judges: list[JudgeSettings] = [self, *self.panel]
        # by name, not by weights: settings that were valid must be so when they are read again
        if len({judge.model_copy(update={"weights": None}).identity() for judge in judges}) < len(judges):
            raise ValueError("different judges in a panel: two are the same")
        if self.repeats > 1 and (self.is_local or not self.temperature):
            why = "the local judge always gives the same verdict" if self.is_local else "at 0 every draw is the same"
            raise ValueError(f"a judge with a temperature above 0 for repeats: {why}")
        if self.is_local and self.reasoning_effort is not None:
            raise ValueError("a reasoning_effort only for other judges: the local one has none")
        if self.base_url is not None:
            parts = urlsplit(self.base_url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("a base_url like http://localhost:8000/v1")
            if parts.username or parts.password:
                raise ValueError("a base_url without a password: keys belong into the environment")
        return self

    @property
    def name(self) -> str:
        """The judge's name, shown with its scores: the model, and the server where there is a base_url."""
        if self.model == LOCAL:
            return KNOWN.name
        if self.is_local and self.weights is not None:
            return f"{self.model} ({self.weights[:SHORT]})"
        return self.model if self.base_url is None else f"{self.model} at {urlsplit(self.base_url).netloc}"

    @property
    def is_local(self) -> bool:
        """Whether the judge is a model of this machine."""
        return self.model == LOCAL or self.model.startswith(LOCAL + ":")

    @property
    def options(self) -> dict[str, Any]:
        """The OPTIONS that are set, by name."""
        return {name: value for name in OPTIONS if (value := getattr(self, name)) is not None}

    @property
    def asks_probabilities(self) -> bool:
        """Whether the probabilities of tokens are asked for; the local judge tells those of its labels anyway."""
        return bool(self.probabilities) and not self.is_local

    @property
    def judges(self) -> tuple["JudgeSettings", ...]:
        """This judge and the rest of its panel."""
        return (self.model_copy(update={"panel": ()}), *self.panel)

    def with_weights(self) -> Self:
        """Return the settings with the weights that the files of local:FILE have now, those of the panel included."""
        panel = tuple(judge.with_weights() for judge in self.panel)
        own = None
        if self.is_local and self.model != LOCAL:
            own = weights_of(gguf_file(self.model))
        return self.model_copy(update={"panel": panel, "weights": own or self.weights})

    def of_draw(self, draw: int) -> "JudgeSettings":
        """Return the settings that one draw, from 0, is sent with: a seed of its own where there is one."""
        return self if self.seed is None else self.model_copy(update={"seed": self.seed + draw})

    def identity(self) -> str:
        """Return the settings that change replies, except prompts and their examples, which the messages contain.

        As canonical JSON it is a part of every cache key.
        """
        own = self.model_dump(mode="json", include={"model", "base_url", "temperature", "max_tokens"})
        own |= self.options  # an option that is not sent leaves the keys of older replies as they are
        own |= {"probabilities": True} if self.asks_probabilities else {}
        if self.is_local:
            own |= {"questions": VERSION} | ({"weights": KNOWN.sha256} if self.model == LOCAL else {})
        if self.weights is not None:  # wherever the file is
            own |= {"model": f"{LOCAL}:", "weights": self.weights}
        return json.dumps(own, sort_keys=True)

    def calibrated_as(self, prompts: Collection[str]) -> str:
        """Return what a calibration knows the judge by, for an evaluator with these prompts.

        Its name; with the version of a local judge's questions; with a digest of settings that scores depend on.
        """
        questions = f", questions {VERSION}" if self.is_local else ""
        plain = settings_of(self.model_dump(include={"model", "weights", "base_url"}))
        own = self.of_prompts(prompts).numbers()
        if own == plain.numbers():
            return f"{self.name}{questions}"
        digest = sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()
        return f"{self.name}{questions}, settings {digest[:SHORT]}"

    def of_prompts(self, prompts: Collection[str]) -> "JudgeSettings":
        """Return the settings of this judge alone for an evaluator with these prompts: texts in their place only."""
        edited = {id: text for id, text in self.prompts.items() if id in prompts}
        return self.model_copy(update={"prompts": edited, "panel": ()})

    def numbers(self) -> dict[str, Any]:
        """Return the settings that affect a run's scores, without limits of speed and cost."""
        own = {"model", "base_url", "temperature", "max_tokens", "prompts"}
        further: dict[str, Any] = {} if self.probabilities is None else {"probabilities": self.probabilities}
        further |= {} if self.window is None else {"window": self.window}
        further |= {} if self.weights is None else {"weights": self.weights}
        further |= {"examples": self.examples} if self.examples != "none" else {}
        further |= {"repeats": self.repeats} if self.repeats > 1 else {}
        further |= {"combine": self.combine} if self.combine != "majority" else {}
        numbers = self.model_dump(mode="json", include=own) | self.options | further
        return numbers | {"panel": [judge.numbers() for judge in self.panel]}


def draw_names(name: str, repeats: int) -> tuple[str, ...]:
    """Return the names of a judge's draws; the judge's own name where there is one draw."""
    return (name,) if repeats == 1 else tuple(f"{name}, draw {number}" for number in range(1, repeats + 1))


def settings_of(given: Any) -> JudgeSettings:
    """Return the settings from a model's name or plain data. Raises InputError."""
    try:
        return JudgeSettings.model_validate({"model": given} if isinstance(given, str) else given)
    except ValidationError as failure:
        raise InputError(
            InputProblem(
                "judge",
                repr(error["input"]),
                error["msg"].removeprefix("Value error, "),
                column=".".join(map(str, error["loc"])) or None,
            )
            for error in failure.errors()
        ) from None
