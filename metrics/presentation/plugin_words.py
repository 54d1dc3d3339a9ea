"""Where the evaluators of plugins come from, in words."""

from metrics.core.registry import plugin
from metrics.presentation.safe_text import shown
from metrics.store import Run

MOST = 200  # characters of a name


def plugin_lines(run: Run) -> dict[str, str]:
    """Return a line about each plugin of a run by the evaluator's id: package, reference, fingerprint of its source.

    It says, too, where the plugin is not here, or here with another source.
    """
    return {entry.id: _line(entry.id, entry.plugin) for entry in run.spec.evaluators if entry.plugin is not None}


def _line(id: str, facts: dict[str, str]) -> str:
    said = {
        name: shown(str(facts.get(name, "")), MOST) for name in ("package", "package_version", "reference", "source")
    }
    package = f"package {said['package']} {said['package_version']}, " if said["package"] else ""
    line = f"{package}{said['reference']}, source sha256 {said['source']}"
    known = plugin(id)
    if known is None:
        return line + "; not loaded here, so what is shown of it is what the run has stored"
    return line if known.source == facts.get("source") else line + "; its source here is another"
