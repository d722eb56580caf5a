"""Named sessions for one command after the other: opened from the state folder, and what was added is put back."""

from __future__ import annotations

from lsptools.edit.session import Session
from lsptools.faces.environment import Environment
from lsptools.workspace.paths import Root


def named_session(environment: Environment, root: Root, name: str) -> Session:
    """What the session of this name has seen so far."""
    kept = environment.sessions(root)
    return Session(digests=kept.load(name), recall=kept.content)


def keep_session(environment: Environment, root: Root, name: str, session: Session) -> None:
    """Put back what was seen since `named_session`."""
    if session.updates:
        kept = environment.sessions(root)
        kept.update(name, session.updates)
        kept.keep(session.contents)
