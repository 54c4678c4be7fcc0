"""Where files are kept, as the settings say it: in the memory's folder, or in an object store."""

from __future__ import annotations

from mnemic.backends.blobs.folder import FolderBlobs
from mnemic.config import Settings
from mnemic.ports.blobs import Blobs


def blobs_of(settings: Settings) -> Blobs:
    """Return the place for files. Raises `InputError` for an address that is none, or without the extra `[s3]`."""
    if not settings.blobs_url:
        return FolderBlobs(settings.folder)
    from mnemic.backends.blobs.s3 import Bucket, S3Blobs  # noqa: PLC0415 - only who keeps files in S3 needs it

    return S3Blobs(
        Bucket(
            settings.blobs_url,
            settings.blobs_endpoint,
            settings.blobs_region,
            settings.blobs_access_key,
            settings.blobs_secret_key,
        )
    )
