"""Who may call, how far, and what is kept of it: the parts about keys, members and records, put together."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.config import Settings
from mnemic.ports.clock import Clock
from mnemic.runtime.metered import MeteredStore
from mnemic.services.audit import Audit
from mnemic.services.gate import Gate
from mnemic.services.keys import KeyDesk
from mnemic.services.once import Once
from mnemic.services.scoping import Scoping
from mnemic.services.sharing import Sharing


@dataclass(frozen=True, slots=True)
class Access:
    """All that is about those who call, in an open memory."""

    keys: KeyDesk
    gate: Gate
    sharing: Sharing
    audit: Audit
    once: Once

    def close(self) -> None:
        """Write down what waits for it."""
        self.gate.close()
        self.audit.settle(ending=True)


def access_of(settings: Settings, store: MeteredStore, clock: Clock, scoping: Scoping) -> Access:
    """Return the parts; from now on, what the store writes for who is named is written down beside it."""
    audit = Audit(store, clock, scoping, days=settings.audit_days, rows=settings.audit_rows)
    store.recorded = audit.recorded
    return Access(
        keys=KeyDesk(store, clock, scoping),
        gate=Gate(store, clock, audit.refused),
        sharing=Sharing(store, scoping),
        audit=audit,
        once=Once(store, clock, scoping),
    )
