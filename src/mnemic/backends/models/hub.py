"""The Hugging Face hub, or what mirrors it: opened for one model, with its faults told as ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from mnemic.errors import InputError, ModelError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

TIMEOUT: Final = 10.0
"""Seconds for the hub's first answer."""
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)


@contextmanager
def hub(name: str, endpoint: str | None, fault: Callable[[str], ModelError]) -> Iterator[HfApi]:
    """Hand out the hub's client for the repository `name`; `fault` makes an error of what it could not do.

    Raises InputError for a name that cannot be one, before anything is asked for.
    """
    if not _REPOSITORY.fullmatch(name):
        raise InputError("name", f"{name!r} is no repository of the hub, such as org/model; or name a folder as source")
    import httpx2  # noqa: PLC0415 - with the next 0.3 s, paid only by who downloads
    from huggingface_hub import HfApi, errors  # noqa: PLC0415

    try:
        yield HfApi(endpoint=endpoint)
    except errors.RepositoryNotFoundError as error:
        raise fault(
            f"the hub has no model {name} that is open to you: check the name, or log in with `hf auth login`"
        ) from error
    except (httpx2.HTTPError, errors.HFValidationError, OSError) as error:
        raise fault(
            f"model {name} could not be fetched from the hub ({type(error).__name__}: {error}); nothing was changed: "
            "check the connection and try again, or copy the model here and pull it with that folder as source"
        ) from error
