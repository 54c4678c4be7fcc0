"""Settings: one frozen value, and the only place that reads the environment and TOML.

Order of strength: the constructor, the environment (`MNEMIC_…`), the file `mnemic.toml` in the memory's folder, the
default. An unknown key is an error that names where it came from. Parts get the values they need, never all of this.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mnemic.bounds import check_bounds
from mnemic.errors import InputError

PREFIX: Final = "MNEMIC_"
FILE: Final = "mnemic.toml"
_NEEDED: Final = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "LANG")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, each with its default."""

    home: str = ""
    """Folder of the memory; empty means the user's data directory."""
    database_url: str = field(default="", repr=False)
    """PostgreSQL 15 or newer, such as postgresql://user:password@host/database; empty means SQLite in the folder."""
    database_connections: int = 16
    """Connections to PostgreSQL that this process opens at most."""
    blobs_url: str = ""
    """Where files are kept, of documents and of messages: s3://bucket or s3://bucket/prefix, for this store alone
    (extra `[s3]`); empty means `blobs` in the memory's folder."""
    blobs_endpoint: str = ""
    """Address of a server that speaks S3, such as http://127.0.0.1:9000; empty means AWS."""
    blobs_region: str = ""
    """Region of that bucket; empty means what the machine's AWS_REGION says."""
    blobs_access_key: str = field(default="", repr=False)
    """Key for that bucket; empty means the machine's own (AWS_ variables, or what its cloud gives it)."""
    blobs_secret_key: str = field(default="", repr=False)
    """Secret of that key."""
    vector_index: str = "auto"
    """Where vectors are compared on PostgreSQL: `pgvector`, `memory` (this process), or `auto`: pgvector in cubes of
    more than `vector_index_from` passages, when the extension is there."""
    vector_index_from: int = 50_000
    """Passages of a cube from which `auto` leaves comparing to pgvector."""
    redis_url: str = field(default="", repr=False)
    """Redis 6.2 or newer, or Valkey, that carries jobs to workers, such as redis://host:6379/0; empty means that
    workers ask the database."""
    redis_prefix: str = "mnemic"
    """First part of the names of all keys in Redis; stores that share a server need different ones."""
    redis_shards: int = 16
    """Parts of a Redis Cluster that cubes are spread over; all processes of a store need the same number. One server
    is one part: all of its streams are read in one call, in the order of arrival."""
    timezone: str = "UTC"
    """IANA zone in which times without a zone are read."""
    embedder: str = "bundled"
    """`bundled`, `multilingual` (an extra), `openai` (an OpenAI-compatible endpoint), `hashing` (tests only), or the
    name or folder of a pulled model."""
    embed_base_url: str = ""
    """Endpoint of the embedder `openai`, such as http://127.0.0.1:11434/v1."""
    embed_api_key: str = field(default="", repr=False)
    """Key for that endpoint."""
    embed_model: str = ""
    """Model name for that endpoint."""
    embed_query_prefix: str = ""
    """What that endpoint's model wants in front of a question, such as `query: `."""
    embed_passage_prefix: str = ""
    """What that endpoint's model wants in front of a passage. A change of it asks for `mnemic reindex`."""
    embed_threads: int = 1
    """Threads of the bundled embedder."""
    cache_megabytes: int = 64
    """Vectors kept in memory, for the cubes searched last."""
    ranking: str = "learned"
    """How search weighs what it knows of a passage: `learned` weights, or the `plain` sum of its channels."""
    llm: str = "auto"
    """Who answers prompts: `openai` (any OpenAI-compatible server), `anthropic`, `local` (a GGUF file run in this
    process's care), `none`, or `auto`: what the settings below point to, `none` when they are empty."""
    llm_base_url: str = ""
    """Endpoint of the language model, such as http://127.0.0.1:11434/v1; empty means the provider's own."""
    llm_api_key: str = field(default="", repr=False)
    """Key for that endpoint."""
    llm_model: str = ""
    """Model name for that endpoint; for `local` a GGUF file, or the name of a pulled one."""
    llm_timeout: float = 0.0
    """Seconds that one request to a language model may take; 0 means 60, and 600 for `local`, which is slow."""
    llm_tries: int = 3
    """Tries of a request that fails for a reason that may pass."""
    llm_max_tokens: int = 1024
    """Tokens of an answer at most."""
    llm_temperature: float = 0.0
    """Temperature of answers, 0 to 2; refining always uses 0."""
    llm_context: int = 8192
    """Tokens that the model can take in, for `local` and for the size of prompts."""
    llm_threads: int = 1
    """Threads of a `local` model."""
    llm_daily_calls: int = 0
    """Calls that a cube may make in a day (UTC); beyond it refining waits until tomorrow and answers are extractive.
    0 means no limit."""
    llm_daily_tokens: int = 0
    """Tokens, in and out, that a cube may use in a day; 0 means no limit."""
    judge_base_url: str = ""
    """Endpoint of the model that judges answers in `mnemic eval --answers`."""
    judge_api_key: str = field(default="", repr=False)
    """Key for that endpoint."""
    judge_model: str = ""
    """Model name for that endpoint; empty means no judge."""
    vision_base_url: str = ""
    """Endpoint of the model that looks at pictures, OpenAI-compatible; empty means OpenAI itself."""
    vision_api_key: str = field(default="", repr=False)
    """Key for that endpoint."""
    vision_model: str = ""
    """Model name for that endpoint; empty means that no model looks at pictures: their words are read all the same."""
    hear: str = "auto"
    """Who writes down what is said in recordings: `openai` (an endpoint, below), `local` (Whisper, which comes with the
    extra `[audio]`), `none`, or `auto`: the endpoint when a model is named, else what is installed."""
    hear_base_url: str = ""
    """Endpoint with an `/audio/transcriptions` route, such as http://127.0.0.1:8000/v1; empty means OpenAI itself."""
    hear_api_key: str = field(default="", repr=False)
    """Key for that endpoint."""
    hear_model: str = ""
    """Model name for that endpoint."""
    attachment_megabytes: int = 20
    """Size at most of an image, a file or a sound that comes with a message."""
    attachments: int = 20
    """Images, files and sounds that a message may bring."""
    fetch_attachments: bool = False
    """Fetch images and files that messages only give the addresses of, from the public internet, in the background."""
    rerank_base_url: str = ""
    """Endpoint with a `/rerank` route (Jina, Cohere, vLLM, llama.cpp); empty means no reranker."""
    rerank_api_key: str = field(default="", repr=False)
    """Key for that endpoint."""
    rerank_model: str = ""
    """Model name for that endpoint."""
    refine: bool = True
    """Let the language model, when there is one, read what was said and draw memories from it."""
    refine_messages: int = 24
    """Messages that the language model reads in one call."""
    refine_quiet_seconds: float = 300.0
    """How long a smaller number of messages waits for more before it is read all the same."""
    refine_instructions: str = ""
    """What the language model is told besides about what to remember."""
    refine_categories: str = ""
    """Categories of your own, comma-separated, that memories are put into where they fit."""
    refine_include: str = ""
    """Topics to keep to, comma-separated; empty means all."""
    refine_exclude: str = ""
    """Topics of which nothing is drawn, comma-separated."""
    reorganize_hours: float = 24.0
    """How long after new memories came in, they are merged and summed up; 0 means never."""
    persona: str = ""
    """Who the assistant is in `chat` and `ask`, in a sentence or two."""
    answer_style: str = ""
    """How it speaks, such as `brief and warm`."""
    relationship: str = ""
    """What it is to the user, such as `friend` or `tutor`."""
    profile_templates: str = ""
    """A TOML file with profile templates of your own: `name = ["home.place", "relation.*"]`, one a line."""
    file_megabytes: int = 100
    """Size of a document at most, whether it is handed over, uploaded or fetched."""
    chunk_tokens: int = 220
    """Word pieces of a passage of a document at most, with the headings above it: what the embedder reads of it."""
    chunk_overlap: int = 1
    """Sentences of a passage that the next one repeats."""
    fetch_private: str = ""
    """Hosts and networks of your own that documents are fetched from although they are not public, comma-separated,
    such as `intranet.example,10.0.0.0/8`. Whoever may add an address then reads through this machine what they hold."""
    fetch_seconds: float = 120.0
    """Seconds that fetching an address may take, with all redirects."""
    worker: bool = True
    """Run background work in this process; without it jobs wait for a process that does."""
    worker_threads: int = 1
    """Threads for each lane of background work in this process; `mnemic worker --threads` says its own."""
    worker_kinds: str = ""
    """Kinds of jobs that this process runs, comma-separated, such as `organize,embed`; empty means all. Some process
    must run each kind."""
    jobs_running: int = 0
    """Jobs of a cube that run at one time, unless the cube has a limit of its own; 0 means no limit."""
    jobs_per_minute: int = 0
    """Jobs of a cube that begin in a minute, unless the cube has a limit of its own; 0 means no limit."""
    audit_days: int = 90
    """Days that it is written down who wrote what through a server, and what was refused."""
    audit_rows: int = 200_000
    """Rows of that which are kept at most; 0 keeps none."""
    jobs_kept: int = 200
    """Jobs of a cube of which those that are done stay to be looked at."""
    schedule_upkeep: str = "*/15 * * * *"
    """When the store is looked over: old jobs go, archives cool, logs are folded. A cron calendar in `timezone`; empty
    means never."""
    schedule_refresh: str = "*/10 * * * *"
    """When addresses are looked at whose `refresh_hours` are over; empty means never."""
    schedule_backup: str = ""
    """When a backup is written to `backup_folder`, such as `0 3 * * *`; empty means never."""
    backup_folder: str = ""
    """Where backups go; empty means `backups` in the memory's folder."""
    backup_keep: int = 7
    """Backups that are kept."""
    log_format: str = "plain"
    """How `mnemic worker` writes its log: `plain`, or `json` with an event and its fields in each line."""
    metrics_port: int = 0
    """Port on which `mnemic worker` shows its figures to Prometheus; 0 means none."""
    metrics_host: str = "127.0.0.1"
    """Address of that port."""
    trace_endpoint: str = ""
    """OpenTelemetry collector that traces go to, such as http://127.0.0.1:4318/v1/traces (extra `[otel]`)."""
    serve_host: str = "127.0.0.1"
    """Address that `mnemic serve` listens on; any but loopback needs a key (`mnemic keys create`)."""
    serve_port: int = 8765
    """Port of that address; 0 is any free one."""
    serve_threads: int = 32
    """Calls that the server makes at one time; others wait for their turn."""
    serve_streams: int = 64
    """Streams, and calls that wait for work, that are open at one time; one more is refused."""
    serve_max_megabytes: int = 16
    """Size of a request at most."""
    serve_max_load_megabytes: int = 1024
    """Size of an export at most that is loaded as a stream of lines."""
    serve_max_upload_megabytes: int = 300
    """Size of a request at most that brings files as a form."""
    serve_max_files: int = 20
    """Files of one such request at most."""
    serve_origins: str = ""
    """Origins whose pages may call, comma-separated, such as https://app.example.com; empty means none."""
    file_pages: int = 500
    """Pages of a file at most."""
    read_seconds: float = 600.0
    """Seconds that reading one file may take; pages that are pictures take some seconds each."""
    read_megabytes: int = 2048
    """Memory that reading one file may take."""
    ocr: bool = True
    """Read the words in pictures and on scanned pages, on this machine (extra `[vision]`)."""
    stm_pages: int = 10
    """Pages of a session that stay in short-term memory."""
    stm_quiet_hours: float = 24.0
    """A session that was quiet for so long, by what was said elsewhere in the cube, leaves short-term memory."""
    page_gap_hours: float = 6.0
    """A pause after which a new page opens."""
    segment_threshold: float = 0.6
    """A page joins the segment with the best cosine + Jaccard score at or above this."""
    heat_threshold: float = 5.0
    """A segment this warm is promoted to long-term memory."""
    heat_hours: float = 24.0
    """Time constant of heat's recency part."""
    mtm_segments: int = 2000
    """Segments in the middle tier; the coldest beyond are archived, still searchable on request."""
    answer_threshold: float = 0.42
    """Evidence scored below this is not an answer: `ask` says that it is not in memory."""

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which times without one are read."""
        return _zone(self.timezone)

    @property
    def folder(self) -> Path:
        """Folder of the memory."""
        return Path(self.home).expanduser() if self.home else _data_directory()

    @property
    def provider(self) -> str:
        """Who answers prompts, with `auto` resolved."""
        if self.llm != "auto":
            return self.llm
        if self.llm_model.endswith(".gguf") and not self.llm_base_url:
            return "local"
        return "openai" if self.llm_base_url or self.llm_model else "none"

    @property
    def patience(self) -> float:
        """Seconds that one request to the language model may take."""
        return self.llm_timeout or (600.0 if self.provider == "local" else 60.0)

    @property
    def stm_quiet(self) -> timedelta:
        """`stm_quiet_hours` as a duration."""
        return timedelta(hours=self.stm_quiet_hours)


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a client finds its server, as the environment says it: `MNEMIC_URL` and `MNEMIC_KEY`."""

    url: str = ""
    key: str = field(default="", repr=False)


def remote() -> Remote:
    """Return what the environment says about a server that a client calls."""
    return Remote(**{each.name: os.environ.get(PREFIX + each.name.upper(), "") for each in fields(Remote)})


def load(path: str | Path | None = None, given: Settings | Mapping[str, Any] | None = None) -> Settings:
    """Return the settings for a memory in `path`: what was given, else the environment, the file, the default."""
    if isinstance(given, Settings):
        placed = replace(given, home=str(path)) if path is not None else given
        given = {each.name: getattr(placed, each.name) for each in fields(placed)}
        return _validated(Settings(**_checked(given, "settings")))
    values: dict[str, Any] = {}
    from_environment = _from_environment()
    overrides = dict(given or {})
    if path is not None:
        overrides["home"] = str(path)
    home = overrides.get("home") or from_environment.get("home") or ""
    folder = Path(home).expanduser() if home else _data_directory()
    values.update(_from_file(folder / FILE))
    values.update(from_environment)
    values.update(_checked(overrides, "settings"))
    return _validated(Settings(**values))


def _from_environment() -> dict[str, Any]:
    known = {PREFIX + field.name.upper(): field.name for field in fields(Settings)}
    clients = {PREFIX + field.name.upper() for field in fields(Remote)}
    found = {name: value for name, value in os.environ.items() if name.startswith(PREFIX) and name not in clients}
    unknown = sorted(set(found) - set(known))
    if unknown:
        raise InputError(unknown[0], f"is not a setting of Mnemic (environment); known: {', '.join(sorted(known))}")
    return _checked({known[name]: value for name, value in found.items()}, "environment")


def _from_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return _checked(tomllib.loads(path.read_text("utf-8")), str(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"is not valid TOML: {error}") from error


def _checked(values: Mapping[str, Any], origin: str) -> dict[str, Any]:
    types = {field.name: type(field.default) for field in fields(Settings)}
    return {name: _converted(name, value, types.get(name), origin) for name, value in values.items()}


def _converted(name: str, value: Any, kind: type | None, origin: str) -> Any:
    if kind is None:
        known = ", ".join(field.name for field in fields(Settings))
        raise InputError(name, f"is not a setting of Mnemic ({origin}); known: {known}")
    if kind is bool and isinstance(value, str):
        words = {
            "1": True,
            "true": True,
            "yes": True,
            "on": True,
            "0": False,
            "false": False,
            "no": False,
            "off": False,
        }
        value = words.get(value.lower(), value)
    elif kind in (int, float) and isinstance(value, str):
        value = _number(name, value, kind, origin)
    elif kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InputError(name, f"needs a {kind.__name__}, got {value!r} ({origin})")
    return value


def _number(name: str, value: str, kind: type, origin: str) -> Any:
    try:
        return kind(value)
    except ValueError as error:
        raise InputError(name, f"needs a {kind.__name__}, got {value!r} ({origin})") from error


def _validated(settings: Settings) -> Settings:
    check_bounds(settings)
    _check_blobs(settings)
    _zone(settings.timezone)
    return settings


def _check_blobs(settings: Settings) -> None:
    if settings.blobs_url and not settings.blobs_url.startswith("s3://"):
        raise InputError("blobs_url", "needs s3://bucket or s3://bucket/prefix, or nothing for the memory's folder")
    if bool(settings.blobs_access_key) != bool(settings.blobs_secret_key):
        raise InputError("blobs_access_key", "and blobs_secret_key come together, or neither does")


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError("timezone", f"{name!r} is not an IANA time zone such as Europe/Lisbon") from error


def _data_directory() -> Path:
    """Return the user's data directory for Mnemic (XDG base directories; the platform's own on macOS and Windows)."""
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "mnemic"
    if os.uname().sysname == "Darwin":
        return Path.home() / "Library" / "Application Support" / "mnemic"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "mnemic"


def roaming_folder() -> Path:
    """Return where programs keep settings on Windows."""
    return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")


def process_environment() -> Mapping[str, str]:
    """Return what a process that reads foreign files needs of the environment: where programs lie, and no secret."""
    return {name: value for name in _NEEDED if (value := os.environ.get(name))}


def named_in_environment() -> list[str]:
    """Return the names of the settings that the environment gives, but for the folder."""
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name != f"{PREFIX}HOME")


def secrets_of(settings: Settings) -> frozenset[str]:
    """Return what of the settings must never be shown: keys, and passwords of addresses, as written and as meant."""
    found: set[str] = set()
    for each in fields(Settings):
        value = getattr(settings, each.name)
        if each.repr or not value:
            continue
        if "://" in value:
            password = urlsplit(value).password or ""
            found |= {password, unquote(password)}
        else:
            found.add(value)
    return frozenset(found - {""})


def read_templates(settings: Settings) -> Mapping[str, list[str]]:
    """Return the profile templates of the file that the settings name. Raises `InputError` for one that is none."""
    if not settings.profile_templates:
        return {}
    path = Path(settings.profile_templates).expanduser()
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("profile_templates", f"{path} cannot be read: {error}") from error
    for name, entries in found.items():
        if not isinstance(entries, list) or not entries or not all(isinstance(each, str) for each in entries):
            raise InputError("profile_templates", f"{path}: {name} needs a list of attributes")
    return found
