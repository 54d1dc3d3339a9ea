"""Opening the cross-encoder or classifier that a setting names, by the architecture of its files."""

from pathlib import Path

from metrics.models.classifier import FOLDER, KIND, Classifier, read_config
from metrics.models.hhem import HallucinationClassifier, is_hhem
from metrics.models.model_files import model_folder, no_folder, no_library


def open_classifier(setting: str, cache_folder: Path) -> Classifier:
    """Return the classifier that `setting` names: a local folder, or the name of a model on the hub.

    Raises MissingResource where there is none.
    """
    folder, name = model_folder(setting, KIND, missing_classifier(setting))
    if is_hhem(read_config(folder)):
        return HallucinationClassifier(folder, name, cache_folder, from_hub=folder != Path(setting).expanduser())
    return Classifier(folder, name, cache_folder)


def missing_classifier(setting: str) -> str | None:
    """Return why the classifier of this setting is not available; None where it is. Nothing is loaded."""
    return no_library(KIND) or no_folder(setting, f"{FOLDER}, or a model of the hub")
