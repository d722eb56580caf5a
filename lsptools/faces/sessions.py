"""Named sessions for one command after the other: opened from the state folder, and what was added is put back."""

from __future__ import annotations

from lsptools.edit.session import Session
from lsptools.faces.environment import Environment
from lsptools.workspace.paths import Root


def named_session(environment: Environment, root: Root, name: str) -> Session:
    """What the session of this name has seen so far."""
    sessions = environment.sessions(root)
    kept = sessions.load(name)
    return Session(digests=kept.digests, told=set(kept.told), raw=set(kept.raw), recall=sessions.content)


def keep_session(environment: Environment, root: Root, name: str, session: Session) -> None:
    """Put back what was seen since `named_session`."""
    sessions = environment.sessions(root)
    sessions.update(name, session.updates, session.told, session.raw)
    sessions.keep(session.contents)
