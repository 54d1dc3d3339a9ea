"""How much text a judge takes at once: its window, and the room that a question leaves for texts."""

from metrics.judge.local.model_process import WINDOW as LOCAL_WINDOW
from metrics.judge.settings import JudgeSettings

UNKNOWN = 16_384  # tokens, of a model that litellm does not list and of a server of the user's own
INSTRUCTIONS = 1_500  # tokens of the frame, the prompt, the schema and the chat's own marks
MIN_WINDOW = 4_096  # tokens; a model that takes fewer is asked as if it took so many


def window_of(settings: JudgeSettings) -> int:
    """Return the tokens that prompt and reply may have together: the setting, else the model's, else UNKNOWN."""
    if settings.window is not None:
        return settings.window
    if settings.is_local:
        return LOCAL_WINDOW
    if settings.base_url is None:
        from metrics.judge.provider import listed_window

        return max(MIN_WINDOW, listed_window(settings.model) or UNKNOWN)
    return UNKNOWN


def question_room(settings: JudgeSettings) -> int:
    """Return the tokens that a question may have, instructions included, by the upper estimate of `about_tokens`.

    A reply is left `max_tokens`, at most half of the window; that of the local judge is one word.
    """
    window = window_of(settings)
    return window if settings.is_local else max(window - settings.max_tokens, window // 2)


def room_of(settings: JudgeSettings) -> int:
    """Return the tokens that the texts of one question may have, by the same estimate."""
    return question_room(settings) - INSTRUCTIONS
