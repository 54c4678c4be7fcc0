"""The commands about models: what is configured, whether it works and how fast, and bringing one from a hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from mnemic import config, wiring
from mnemic.errors import InputError
from mnemic.shells.cli import model_lists, model_tests, upkeep
from mnemic.shells.cli.commands import group
from mnemic.shells.cli.exits import MODEL, NOTHING
from mnemic.shells.cli.face import Face, face_of
from mnemic.shells.cli.wording import plural, shown

MODELS: Final = group("Models: what is configured, whether it works, and bringing one from a hub.")


@MODELS.callback(invoke_without_command=True, no_args_is_help=False)
def models(context: typer.Context) -> None:
    """Show which models are configured, test and time them, or bring one from a hub."""
    if context.invoked_subcommand is None:
        _show(face_of(context))


@MODELS.command("list")
def list_models(context: typer.Context) -> None:
    """Show which model is configured for which purpose, and which are pulled."""
    _show(face_of(context))


@MODELS.command("test")
def try_models(
    context: typer.Context,
    purpose: Annotated[
        str | None, typer.Argument(help=f"One of {', '.join(model_lists.PURPOSES)} (default: all that are configured).")
    ] = None,
) -> None:
    """Call what is configured, and time it, cold and warm; a language model gets three short prompts."""
    face = face_of(context)
    if purpose is not None and purpose not in model_lists.PURPOSES:
        raise InputError("purpose", f"{purpose!r} is none of {', '.join(model_lists.PURPOSES)}")
    settings = config.load(face.home)
    asked = [one for one in model_lists.configured(settings) if purpose in (None, one.purpose)]
    found = []
    with face.progress("calling models", sum(one.configured for one in asked)) as advance:
        for one in asked:
            if one.configured:
                found.append(model_tests.run(settings, one))
                advance(len(found), None)
    missing = [one for one in asked if not one.configured]
    ok = all(one.ok for one in found)
    face.show({"ok": ok, "models": found, "missing": missing}, lambda: model_tests.table(found, missing))
    if not ok:
        raise typer.Exit(MODEL)
    if not found:
        raise typer.Exit(NOTHING)


@MODELS.command("pull")
def pull_model(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="A model on the Hugging Face hub: org/model, org/model-GGUF or org/model-GGUF:Q8_0."),
    ] = None,
    *,
    source: Annotated[Path | None, typer.Option(help="A folder to copy an embedder from instead.")] = None,
) -> None:
    """Bring a sentence embedder, or a language model as a GGUF file; without a name, list what is worth a try."""
    face = face_of(context)
    if name is None:
        known = wiring.recommended_models()
        face.show(known, lambda: model_lists.recommended(known))
        return
    with face.progress(f"pulling {name}"):
        path = upkeep.pull(face, name, source)
    key = "file" if path.is_file() else "folder"
    face.confirm({key: path}, lambda: shown(f"pulled to {path}"))
    if path.is_file():
        face.note(
            f"use it with {model_lists.use(path)} (and pip install 'mnemic[local]'), then `mnemic models test llm`"
        )
    else:
        face.note(f"use it with {model_lists.use(path)}, then `mnemic reindex`")


def _show(face: Face) -> None:
    settings = config.load(face.home)
    found, shelf = model_lists.configured(settings), model_lists.pulled(settings)
    face.show({"models": found, "pulled": shelf}, lambda: model_lists.table(found, shelf))
    ready = sum(one.configured for one in found)
    face.note(f"{plural(ready, 'model')} configured; `mnemic models test` calls them, `mnemic models pull` lists more")
