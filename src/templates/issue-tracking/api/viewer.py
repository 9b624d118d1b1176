"""The caller. Every caller of the API is the same person, an administrator of the site."""

#: The account that a session's token belongs to.
VIEWER = "5f03a91c20a100009d5e4431"
