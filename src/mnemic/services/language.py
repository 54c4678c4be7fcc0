"""The one door to the language model: every call is within the cube's budget, behind the breaker, and accounted.

No lock and no transaction is held while a model answers. What stands in its way is told as `LanguageError` or
`BudgetError`; what to do without a model is its callers' decision. What goes in and comes out is sound text: halves
of characters, which people paste and models write, can be neither sent nor stored.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from mnemic.core.breaker import Breaker
from mnemic.errors import BudgetError, InputError, LanguageError, ModelError, StoreError
from mnemic.ids import new_id
from mnemic.model.figure import MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS
from mnemic.model.language import Call, Prompt, Reply, Turn
from mnemic.model.moment import midnight
from mnemic.ports.clock import Clock
from mnemic.ports.llm import LanguageModel, Relays
from mnemic.ports.spans import UNWATCHED, Watch
from mnemic.ports.store import Store
from mnemic.text import estimate_tokens, sound
from mnemic.tracing import carried, current, tracing
from mnemic.wire.completions import Heard, prompt_of

T = TypeVar("T")

_log = logging.getLogger(__name__)

NONE_CONFIGURED: Final = "no language model is configured; set MNEMIC_LLM_MODEL, or give one as Memory(llm=)"
"""What a caller is told who asks for a model where there is none."""


A_PICTURE: Final = 1_000
"""Tokens that a picture counts for when its server has not told: about what one of 1,000 by 1,000 pixels costs."""

_ANOTHER: Final = "other"  # what figures call a model that a caller has named


@dataclass(frozen=True, slots=True)
class Budget:
    """What a cube may spend in a day (UTC): calls, and tokens in and out; 0 means no limit."""

    calls: int = 0
    tokens: int = 0


class Language:
    """A language model under guard. Threads may share it."""

    def __init__(
        self,
        model: LanguageModel,
        store: Store,
        clock: Clock,
        *,
        budget: Budget | None = None,
        timer: Callable[[], float] = time.perf_counter,
        watch: Watch = UNWATCHED,
    ) -> None:
        self._model = model
        self._store = store
        self._clock = clock
        self._budget = budget or Budget()
        self._timer = timer
        self.watch = watch
        self._breaker = Breaker()
        self._lock = threading.Lock()
        self._books = threading.Lock()  # where there is a budget: between looking at what was spent and spending
        self._calls_out: Counter[int] = Counter()  # calls under way, and tokens of their prompts, by cube
        self._tokens_out: Counter[int] = Counter()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def complete(self, prompt: Prompt, *, purpose: str, cube_key: int, shown: str = "") -> Reply:
        """Return the reply to a prompt. Raises `BudgetError` and `LanguageError`.

        `shown` is what figures and the log call the purpose, when it is somebody else's word.
        """
        prompt = _sound_prompt(prompt)
        account = self._begun(prompt, purpose, cube_key, shown or purpose)
        try:
            with tracing(span=account.span.id):
                reply = _sound_reply(self._model.complete(prompt))
            account.close(reply, None)
        except ModelError as error:
            account.close(None, error)
            raise
        finally:
            account.close(None, None)
        return reply

    def stream(self, prompt: Prompt, *, purpose: str, cube_key: int) -> Iterator[str | Reply]:
        """Yield the reply's text piece by piece, and at last the whole `Reply`."""
        prompt = _sound_prompt(prompt)
        account = self._begun(prompt, purpose, cube_key, purpose)
        reply: Reply | None = None
        half = ""
        pieces = self._model.stream(prompt)
        if (trace := current()) is not None:
            pieces = carried(replace(trace, span=account.span.id or trace.span), pieces)
        try:
            for piece in pieces:
                if isinstance(piece, Reply):
                    reply = _sound_reply(piece)
                    yield reply
                    continue
                whole, half = _parted(half + piece)
                account.heard += whole
                yield whole
        except ModelError as error:
            account.close(None, error)
            raise
        finally:  # a caller that stops listening has been answered in part
            account.close(reply, None)

    def spend(self, work: Callable[[], T], *, purpose: str, cube_key: int) -> T:
        """Return what other work of the model gives, such as hearing: within the budget of calls, and accounted."""
        account = self._begun(Prompt(()), purpose, cube_key, purpose)
        try:
            with tracing(span=account.span.id):
                found = work()
            account.close(Reply("", self.name), None)
        except ModelError as error:
            account.close(None, error)
            raise
        finally:
            account.close(None, None)
        return found

    def relay(self, request: Mapping[str, Any], *, purpose: str, cube_key: int) -> Mapping[str, Any]:
        """Return the model's server's own answer to a request. Raises `BudgetError`, `LanguageError`, `InputError`."""
        server, prompt, heard = self.check_relay(), prompt_of(request), Heard()
        account = self._begun(prompt, purpose, cube_key, purpose)
        try:
            with tracing(span=account.span.id):
                body = server.relay(request)
            heard.add(body, part="message")
            account.close(_sound_reply(heard.reply(prompt)), None)
        except ModelError as error:
            account.close(None, error)
            raise
        finally:
            account.close(None, None)
        return body

    def relay_stream(self, request: Mapping[str, Any], *, purpose: str, cube_key: int) -> Iterator[Mapping[str, Any]]:
        """Yield the events of the model's server as they come. Who is refused is told before the first is asked for."""
        server, prompt = self.check_relay(), prompt_of(request)
        account = self._begun(prompt, purpose, cube_key, purpose)
        return self._relayed(server.relay_stream(request), prompt, account)

    def _relayed(
        self, events: Iterator[Mapping[str, Any]], prompt: Prompt, account: _Account
    ) -> Iterator[Mapping[str, Any]]:
        heard, reply = Heard(), None
        if (trace := current()) is not None:
            events = carried(replace(trace, span=account.span.id or trace.span), events)
        try:
            for event in events:
                account.heard += sound(heard.add(event))
                yield event
            reply = _sound_reply(heard.reply(prompt))
        except ModelError as error:
            account.close(None, error)
            raise
        finally:
            account.close(reply, None)

    def check_relay(self) -> Relays:
        """Return the model's server, for requests as they are. Raises `InputError` when it is not asked so."""
        if isinstance(self._model, Relays):
            return self._model
        raise InputError(
            "llm", f"{self.name} is not asked through OpenAI's API; set llm to `openai` and llm_base_url to its server"
        )

    def settle(self, call: Call, prompt: Prompt, *, healthy: bool | None) -> None:
        """Account a call that has ended, and tell the breaker how (None: nobody knows).

        Books that cannot be kept any more (the memory was closed, the cube deleted) cost nobody the answer.
        """
        with self._lock:
            if healthy is not None:
                self._breaker = self._breaker.succeeded() if healthy else self._breaker.failed(self._clock.now())
        if not self._is_bounded:
            self._record(call)
            return
        with self._books:
            self._record(call)
            self._calls_out[call.cube_key] -= 1
            self._tokens_out[call.cube_key] -= _tokens(prompt)

    def _record(self, call: Call) -> None:
        try:
            with self._store.write() as tx:
                tx.enter(call.cube_key)
                tx.usage.record(call)
        except StoreError as error:
            _log.warning("call_not_accounted", extra={"purpose": call.purpose, "reason": str(error)})

    def started(self) -> tuple[float, datetime]:
        """Return the time of a beginning call: for measuring, and for the books."""
        return self._timer(), self._clock.now()

    def lasted(self, began: float) -> float:
        """Return the seconds since a call began."""
        return self._timer() - began

    @property
    def _is_bounded(self) -> bool:
        return bool(self._budget.calls or self._budget.tokens)

    def _begun(self, prompt: Prompt, purpose: str, cube_key: int, shown: str) -> _Account:
        """Return the account of a call that is let in."""
        label = self.name if prompt.model in ("", self.name) else _ANOTHER
        try:
            self._admit(cube_key, prompt)
        except ModelError:
            self.watch.meter.add(MODEL_CALLS, 1, shown, label, "refused")
            raise
        return _Account(self, purpose, cube_key, prompt, _Shown(shown, label))

    def _admit(self, cube_key: int, prompt: Prompt) -> None:
        now = self._clock.now()
        if not self._is_bounded:
            self._pass_breaker(now)
            return
        with self._books:
            self._check_budget(cube_key, now)
            self._pass_breaker(now)
            self._calls_out[cube_key] += 1
            self._tokens_out[cube_key] += _tokens(prompt)

    def _pass_breaker(self, now: datetime) -> None:
        with self._lock:
            wait = self._breaker.wait(now)
            if wait is None:
                self._breaker = self._breaker.trying(now)
                return
        raise LanguageError(
            f"{self.name} has failed several times in a row; it is asked again in {wait.total_seconds():.0f} s",
            passing=True, retry_after=wait.total_seconds(), status=None, model=self.name,
        )  # fmt: skip

    def _check_budget(self, cube_key: int, now: datetime) -> None:
        """Raise `BudgetError` when what was spent and what is under way have used the day's budget up."""
        begun = midnight(now)
        with self._store.read() as tx:
            tx.enter(cube_key)
            spent = tx.usage.since(cube_key, begun)
        left = (begun + timedelta(days=1) - now).total_seconds()
        calls = spent.calls + self._calls_out[cube_key]
        tokens = spent.tokens_in + spent.tokens_out + self._tokens_out[cube_key]
        for name, used, most in (("calls", calls, self._budget.calls), ("tokens", tokens, self._budget.tokens)):
            if most and used >= most:
                raise BudgetError(
                    f"this cube has used {used:,} of its {most:,} {name} of language models for today (UTC); raise "
                    f"llm_daily_{name} or wait until tomorrow: storing and searching go on",
                    used=used, limit=most, retry_after=left,
                )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Shown:
    """What figures, spans and the log call a call's purpose and model: words of ours, never a caller's."""

    purpose: str
    model: str


class _Account:
    """One call from its beginning to its end; the first ending counts.

    What a stream had said when it was left, or broke off, is `heard`: no server counted it, so it is estimated.
    """

    def __init__(self, language: Language, purpose: str, cube_key: int, prompt: Prompt, shown: _Shown) -> None:
        self._language = language
        self._shown = shown
        attributes = {"purpose": shown.purpose, "gen_ai.request.model": shown.model}
        self.span = language.watch.spans.start("model call", attributes=attributes)
        self._purpose = purpose
        self._cube_key = cube_key
        self._prompt = prompt
        self._began, self._at = language.started()
        self._closed = False
        self.heard = ""

    def close(self, reply: Reply | None, error: ModelError | None) -> None:
        """Account the call: answered, failed, or (with neither) left by its caller."""
        if self._closed:
            return
        self._closed = True
        outcome = "ok" if reply is not None else error.code if error is not None else "left"
        if error is not None:
            _log.warning("model_call_failed", extra={"purpose": self._shown.purpose, "reason": str(error)})
        tokens_in, tokens_out = (reply.tokens_in, reply.tokens_out) if reply is not None else self._estimate()
        call = Call(
            id=new_id(),
            cube_key=self._cube_key,
            purpose=self._purpose,
            model=(reply.model if reply is not None else "") or self._prompt.model or self._language.name,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            at=self._at,
            seconds=self._language.lasted(self._began),
            outcome=outcome,
        )
        self._tell(call)
        self._language.settle(call, self._prompt, healthy=self._is_healthy(reply, error))

    def _tell(self, call: Call) -> None:
        """Tell who watches."""
        meter, purpose, model = self._language.watch.meter, self._shown.purpose, self._shown.model
        tokens = {"in": call.tokens_in, "out": call.tokens_out}
        meter.add(MODEL_CALLS, 1, purpose, model, call.outcome)
        meter.observe(MODEL_SECONDS, call.seconds, purpose, model)
        for direction, count in tokens.items():
            meter.add(MODEL_TOKENS, count, purpose, model, direction)
        self.span.end(
            call.outcome,
            {"gen_ai.usage.input_tokens": call.tokens_in, "gen_ai.usage.output_tokens": call.tokens_out},
        )
        told = {"purpose": purpose, "model": model, "outcome": call.outcome, "seconds": round(call.seconds, 3)}
        _log.info("model_called", extra={**told, "tokens_in": call.tokens_in, "tokens_out": call.tokens_out})

    def _is_healthy(self, reply: Reply | None, error: ModelError | None) -> bool | None:
        """Tell whether the model is there; None when the call was left before anything was heard."""
        if error is not None:  # who refuses for good, or is asked wrongly, is there: an outage may pass by itself
            return not error.fields.get("passing", True)
        return True if reply is not None or self.heard else None

    def _estimate(self) -> tuple[int, int]:
        if not self.heard:
            return 0, 0
        return _tokens(self._prompt), estimate_tokens(self.heard)


def _tokens(prompt: Prompt) -> int:
    return sum(estimate_tokens(turn.text) + A_PICTURE * len(turn.pictures) for turn in prompt.turns)


def _sound_prompt(prompt: Prompt) -> Prompt:
    turns = tuple(Turn(turn.role, sound(turn.text), turn.pictures) for turn in prompt.turns)
    return replace(prompt, turns=turns, model=sound(prompt.model))


def _sound_reply(reply: Reply) -> Reply:
    return replace(reply, text=sound(reply.text), model=sound(reply.model))


def _parted(text: str) -> tuple[str, str]:
    """Return what of a stream's text is whole, and the half of a character at its end, which waits for the other."""
    cut = len(text) - 1 if text[-1:] and "\ud800" <= text[-1] <= "\udbff" else len(text)
    return sound(text[:cut]), text[cut:]
