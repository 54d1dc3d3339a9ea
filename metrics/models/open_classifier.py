"""Opening the cross-encoder or classifier that a setting names, by the architecture of its files."""

from pathlib import Path

from metrics.core.errors import MissingResource
from metrics.models.classifier import FOLDER, KIND, Classifier, read_config
from metrics.models.hhem import HallucinationClassifier, is_hhem
from metrics.models.model_files import hub_folder, no_folder, no_library


def open_classifier(setting: str, cache_folder: Path) -> Classifier:
    """Return the classifier that `setting` names: a local folder, or the name of a model on the hub.

    Raises MissingResource where there is none. Only a hub name, which the user has to choose, can start a download.
    """
    folder, name = Path(setting).expanduser(), setting
    local = folder.is_dir()
    if local:
        name = folder.resolve().name
    elif reason := missing_classifier(setting):
        raise MissingResource(reason)
    else:
        folder = hub_folder(setting, KIND)
    if is_hhem(read_config(folder)):
        return HallucinationClassifier(folder, name, cache_folder, from_hub=not local)
    return Classifier(folder, name, cache_folder)


def missing_classifier(setting: str) -> str | None:
    """Return why the classifier of this setting is not available; None where it is. Nothing is loaded."""
    return no_library(KIND) or no_folder(setting, f"{FOLDER}, or a model of the hub")
