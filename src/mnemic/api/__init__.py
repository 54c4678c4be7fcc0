"""The embedded face of Mnemic: it says what each call takes and gives, and does nothing itself."""

from mnemic.acting import acting
from mnemic.api.groups import Cubes, Jobs, LanguageModels
from mnemic.api.keys import Keys
from mnemic.api.memory import Memory
from mnemic.api.moving import backup, backups, move, reopen
from mnemic.api.reindexing import reindex
from mnemic.api.repeating import once
from mnemic.api.threads import Threads
from mnemic.model.message import Messages

__all__ = [
    "Cubes", "Jobs", "Keys", "LanguageModels", "Memory", "Messages", "Threads", "acting", "backup", "backups", "move",
    "once", "reindex", "reopen",
]  # fmt: skip
