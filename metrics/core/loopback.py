"""Which addresses only this machine can reach."""

from ipaddress import ip_address


def is_loopback(address: str) -> bool:
    """Return whether a host's name or IP address is this machine's own."""
    try:
        return address == "localhost" or ip_address(address).is_loopback
    except ValueError:
        return False
