"""A shop that fits on a page: who buys, what it costs, who takes the money. It exists to be refactored."""

from shop.models import Order, User
from shop.payments import Card, Invoice, Provider

__all__ = ["Card", "Invoice", "Order", "Provider", "User"]
