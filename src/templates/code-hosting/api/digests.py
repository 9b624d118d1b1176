"""Digests as git has them, and those of files."""


def sha1(data: bytes) -> str:
    """Forty hexadecimal digits."""
    import hashlib  # It brings half a megabyte of OpenSSL, and many sessions never come to it.

    return hashlib.sha1(data).hexdigest()


def sha256(data: bytes) -> str:
    """The digest of a file of a release: `sha256:` and sixty-four hexadecimal digits."""
    import hashlib

    return f"sha256:{hashlib.sha256(data).hexdigest()}"
