"""What an order costs, in cents."""


def vat(net: int) -> int:
    return net * 19 // 100


def gross(net: int) -> int:
    return net + vat(net)
