"""Classifiers that know something: the bundled sentence model's encoder with a head that is trained here, in a second.

Its weights are the smallest real ones at hand; hub models of the same kinds are checked by `models check`.
"""

from collections.abc import Sequence
from pathlib import Path

from metrics.models.embedder import bundled_folder
from metrics.models.model_files import settle_torch

STEPS, PAIR_STEPS = 150, 50
TRAINED = 2  # layers of the encoder that learn, for pairs: the head alone cannot compare two texts


def trained(
    folder: Path, labels: Sequence[str], texts: Sequence[str] | Sequence[tuple[str, str]], targets: Sequence[int]
) -> Path:
    """Save a classifier of texts or pairs; its head is fitted to `targets`, the index of each text's label."""
    import torch
    from transformers import AutoTokenizer, BertForSequenceClassification
    from transformers.utils import logging

    settle_torch()
    torch.manual_seed(0)
    logging.set_verbosity_error()  # the head is new, as it should be
    model = BertForSequenceClassification.from_pretrained(
        bundled_folder(), id2label=dict(enumerate(labels)), label2id={name: place for place, name in enumerate(labels)}
    )
    tokenizer = AutoTokenizer.from_pretrained(bundled_folder())
    paired = isinstance(texts[0], tuple)
    inputs = tokenizer(*map(list, zip(*texts) if paired else [texts]), padding=True, return_tensors="pt")  # noqa: B905
    cut = len(model.bert.encoder.layer) - TRAINED * paired
    learning = [*model.bert.encoder.layer[cut:], model.bert.pooler, model.classifier]
    with torch.no_grad():
        below = model.bert(**inputs, output_hidden_states=True).hidden_states[cut]
    mask = (inputs["attention_mask"][:, None, None, :] - 1.0) * 1e9
    rate = 3e-4 if paired else 3e-3
    optimizer = torch.optim.Adam((weight for part in learning for weight in part.parameters()), rate)
    wanted = torch.tensor(list(targets))
    for _ in range(PAIR_STEPS if paired else STEPS):
        states = below
        for layer in model.bert.encoder.layer[cut:]:
            found = layer(states, mask)
            states = found if torch.is_tensor(found) else found[0]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model.classifier(model.bert.pooler(states)), wanted).backward()
        optimizer.step()
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
