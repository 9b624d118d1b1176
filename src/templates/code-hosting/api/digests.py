"""Digests as git has them."""


def sha1(data: bytes) -> str:
    """Forty hexadecimal digits."""
    import hashlib  # It brings half a megabyte of OpenSSL, and many sessions never come to it.

    return hashlib.sha1(data).hexdigest()
