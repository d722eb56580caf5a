"""Who buys, and what."""

from dataclasses import dataclass
from uuid import NAMESPACE_DNS, uuid5


@dataclass(frozen=True)
class User:
    """A customer. The id is the number on the customer's card."""

    id: int
    name: str
    email: str

    @property
    def valid(self) -> bool:
        return self.id > 0 and "@" in self.email


@dataclass(frozen=True)
class Order:
    """What a user wants, and for how much (in cents, without tax)."""

    user: User
    net: int

    @property
    def id(self) -> str:
        return str(uuid5(NAMESPACE_DNS, f"{self.user.id}/{self.net}"))[:8]
