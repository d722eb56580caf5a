"""python -m shop: one day in the shop."""

import json

from shop import Card, Invoice, Order, Provider, User
from shop.report import find, newest, row

USERS = [
    User(id=1, name="Ada", email="ada@example.org"),
    User(id=7, name="Grace", email="grace@example.org"),
    User(id=0, name="Nobody", email=""),
]
DAY: list[tuple[Order, Provider]] = [
    (Order(find(USERS, 1), 4200), Card()),
    (Order(find(USERS, user_id=7), 990), Invoice()),
    (Order(find(USERS, user_id=0), 100), Card()),
]


def main() -> None:
    for order, provider in DAY:
        try:
            print(provider.collect(order))
        except ValueError as error:
            print(f"order {order.id}: refused, {error}")
    for user in USERS:
        print(json.dumps(row(user, [order for order, _ in DAY])))
    print("newest user:", newest(USERS).name)


main()
