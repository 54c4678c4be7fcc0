"""Old Office formats, OpenDocument and RTF: LibreOffice, where it is installed, makes of them what is read elsewhere.

It runs in a profile of its own in the reader's folder, where macros, links to other files and the network are off.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.families import read as read_any
from mnemic.errors import ReadError

_ENDINGS: Final = {
    "application/msword": "doc", "application/vnd.ms-excel": "xls", "application/vnd.ms-powerpoint": "ppt",
    "application/rtf": "rtf", "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods", "application/vnd.oasis.opendocument.presentation": "odp",
}  # fmt: skip
_SCRIPTING: Final = "/org.openoffice.Office.Common/Security/Scripting"
_INET: Final = "/org.openoffice.Inet/Settings"
_NOWHERE: Final = "127.0.0.1"
_SETTINGS: Final = (
    (_SCRIPTING, "MacroSecurityLevel", "3"),
    (_SCRIPTING, "DisableMacrosExecution", "true"),
    (_SCRIPTING, "BlockUntrustedRefererLinks", "true"),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "0"),
    ("/org.openoffice.Office.Calc/Content/Update", "Link", "2"),
    (_INET, "ooInetProxyType", "2"),
    (_INET, "ooInetHTTPProxyName", _NOWHERE),
    (_INET, "ooInetHTTPProxyPort", "9"),
    (_INET, "ooInetHTTPSProxyName", _NOWHERE),
    (_INET, "ooInetHTTPSProxyPort", "9"),
    (_INET, "ooInetFTPProxyName", _NOWHERE),
    (_INET, "ooInetFTPProxyPort", "9"),
    ("/org.openoffice.Office.Common/Misc", "FirstRun", "false"),
)
"""A proxy at a port where nothing listens, and links that are never followed (LibreOffice's registry)."""


def read(asked: Asked, telling: Telling) -> None:
    """Read a file through LibreOffice. Raises `ReadError` when it is not there, or cannot open the file."""
    if not asked.office:
        raise ReadError(
            f"it is {asked.kind.told}, which needs LibreOffice on this machine: install it, or save it as PDF"
        )
    made = _converted(asked)
    inner = replace(asked, path=made, name=f"{Path(asked.name).stem}.{asked.kind.target}", media="")
    read_any(inner, telling)
    telling.media = asked.kind.media
    telling.note("it was read through LibreOffice")


def _converted(asked: Asked) -> Path:
    profile = asked.folder / "profile"
    source = asked.folder / f"source.{_ENDINGS.get(asked.kind.media, 'xlsb')}"
    source.write_bytes(asked.path.read_bytes())
    _write_profile(profile)
    command = [
        asked.office, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", "--nologo",
        "--nodefault", "--nolockcheck", "--convert-to", asked.kind.target, "--outdir", str(asked.folder), str(source),
    ]  # fmt: skip
    try:
        subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603 - found by us
    except OSError as error:
        raise ReadError(f"LibreOffice cannot be started: {error.strerror}") from error
    made = asked.folder / f"source.{asked.kind.target}"
    if not made.is_file():
        raise ReadError(f"LibreOffice cannot open it: {asked.kind.told} that is damaged, or locked with a password")
    return made


def _write_profile(profile: Path) -> None:
    items = "".join(
        f'<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
        for path, name, value in _SETTINGS
    )
    user = profile / "user"
    user.mkdir(parents=True)
    (user / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry" '
        'xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"{items}</oor:items>",
        "utf-8",
    )
