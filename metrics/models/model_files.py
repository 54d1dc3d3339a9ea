"""A model's files: a local folder or a copy from the hub, their fingerprints, and loading them by transformers."""

import multiprocessing
import os
import threading
from collections.abc import Sequence
from contextlib import redirect_stderr
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from metrics.core.errors import MissingResource, describe_failure
from metrics.core.files import sha256_of
from metrics.core.installation import how_to_install, missing_extra

LIBRARIES = ("torch", "transformers")
PICKLED = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.pickle", "*.ckpt", "*.joblib")  # weights that can run code
MODEL_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")  # the files of a model that affect its numbers


def no_library(kind: str) -> str | None:
    """Return which library a model of this kind lacks, and how to get it, or None; nothing is imported."""
    return missing_extra(f"a {kind}", "models", *LIBRARIES)


def no_folder(setting: str, expected: str) -> str | None:
    """Return that a setting written like a folder names none, or None; `expected` completes "name …"."""
    if Path(setting).expanduser().is_dir():
        return None
    if setting.startswith((".", "~")) or Path(setting).is_absolute() or setting.count("/") > 1:
        return f"there is no folder {setting!r}; name {expected}"
    return None


def model_folder(setting: str, kind: str, missing: str | None, otherwise: str = "") -> tuple[Path, str]:
    """Return the local folder or file of the model that `setting` names, and the name shown with its numbers.

    A hub name, which the user has to choose, is the only setting that can start a download; see hub_folder. Raises
    MissingResource for the reason `missing`, if there is one.
    """
    if missing is not None:
        raise MissingResource(missing)
    place = Path(setting).expanduser()
    return (place, place.resolve().name) if place.exists() else (hub_folder(setting, kind, otherwise), setting)


def local_place(setting: str) -> Path | None:
    """Return the folder or file of a model on this machine, a hub model's copy included; None where there is none."""
    place = Path(setting).expanduser()
    if place.exists() or not setting:
        return place if setting else None
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(setting, local_files_only=True, allow_patterns=list(MODEL_FILES)))
    except (FileNotFoundError, ValueError):  # not downloaded; no name of a model
        return None


def hub_folder(name: str, kind: str, otherwise: str = "", files: Sequence[str] = MODEL_FILES) -> Path:
    """Return the local copy of a hub model, downloaded where there is none yet, without pickled weights.

    Raises MissingResource, whose message contains `kind` and `otherwise`.
    """
    from huggingface_hub import snapshot_download

    try:
        try:
            return Path(snapshot_download(name, local_files_only=True, allow_patterns=list(files)))
        except FileNotFoundError:
            return Path(snapshot_download(name, allow_patterns=list(files)))
    except Exception as failure:
        raise MissingResource(
            f"the {kind} {name!r} is neither a local folder nor available from the hub "
            f"({type(failure).__name__}); check the name and the network{otherwise}"
        ) from failure


def fingerprints(folder: Path) -> tuple[str, str]:
    """Return the sha256 of the weights, and of everything that affects numbers (weights, configuration, vocabulary).

    For weights in several files, the sha256 of their sha256s; a GGUF file holds everything. Raises MissingResource
    for a folder without safetensors.
    """
    if folder.is_file():
        return (sha256_of(folder),) * 2
    hashes = {
        str(path.relative_to(folder)): sha256_of(path)
        for path in sorted({path for pattern in MODEL_FILES for path in folder.rglob(pattern)})
        if "onnx" not in path.parts and "openvino" not in path.parts
    }
    weights = [digest for name, digest in hashes.items() if name.endswith(".safetensors")]
    pickled = {path.parent for pattern in PICKLED for path in folder.rglob(pattern)}
    bare = sorted(place for place in pickled if not any(place.glob("*.safetensors")))  # a library would load these
    if not weights or bare:
        raise MissingResource(
            f"{bare[0] if bare else folder} has no weights as *.safetensors; "
            "pickled weights can run code and are never loaded"
        )
    own = weights[0] if len(weights) == 1 else sha256("".join(weights).encode()).hexdigest()
    return own, sha256(repr(sorted(hashes.items())).encode()).hexdigest()


def device() -> str:
    """Return where models compute: $ASSAY_DEVICE, else a GPU where torch sees one ("cuda"), else "cpu"."""
    import torch

    return os.environ.get("ASSAY_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")


def settle_torch() -> None:
    """Set one thread in a worker process of a pool, as there is one worker per core, and no progress bars.

    Bars, also those not drawn, take a lock; tqdm's own is a semaphore of the system, which a worker that is killed
    leaves behind. Processes share no bar, so a lock of this process does.
    """
    import torch
    from tqdm.std import tqdm
    from transformers.utils import logging

    tqdm.set_lock(threading.RLock())
    if multiprocessing.parent_process() is not None:
        torch.set_num_threads(1)
    logging.disable_progress_bar()


def load(kind: str, folder: Path, architecture: str, whole: bool = True, gguf: str | None = None) -> tuple[Any, Any]:
    """Return the model and tokenizer in a local folder by a class of transformers, in single precision, on `device()`.

    No network, no pickles, no code from the folder. `whole`: missing weights are an error, as they would be drawn at
    random. `gguf`: the file of the folder to read instead, with its weights dequantised. Raises MissingResource, whose
    message contains `kind`.
    """
    try:
        import torch
        import transformers
        from transformers.utils import logging
    except ImportError as failure:
        raise MissingResource(f"a {kind} cannot load {failure.name}: {how_to_install('models')}") from None
    settle_torch()
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    if gguf is not None:
        options["gguf_file"] = gguf
    spoken = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with redirect_stderr(StringIO()):  # the progress bar of reading a GGUF file has no switch
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **options)
            model, report = getattr(transformers, architecture).from_pretrained(
                str(folder), use_safetensors=True, dtype=torch.float32, output_loading_info=True, **options
            )
        absent = sorted(report["missing_keys"])
        if whole and absent:
            raise ValueError(f"its weights lack {', '.join(absent[:4])}")
        if not tokenizer.is_fast:
            raise ValueError("its tokenizer gives no offsets; a folder with a tokenizer.json has one that does")
    except Exception as failure:
        raise MissingResource(
            f"the {kind} in {folder} cannot be loaded ({describe_failure(failure)}); choose another"
        ) from failure
    finally:
        logging.set_verbosity(spoken)
    return model.to(device()).eval(), tokenizer
