"""Who takes the money, and what that costs."""

from shop.models import Order
from shop.pricing import gross


class Provider:
    """Somebody who is paid to take money."""

    def fee(self, net: int) -> int:
        return 0

    def collect(self, order: Order) -> str:
        if not order.user.valid:
            raise ValueError(f"{order.user.name!r} is no valid customer")
        total = gross(order.net) + self.fee(order.net)
        return f"order {order.id}: user {order.user.id} pays {total / 100:.2f}"


class Card(Provider):
    def fee(self, net: int) -> int:
        return super().fee(net) + 30 + net // 100


class Invoice(Provider):
    def fee(self, net: int) -> int:
        return 150
