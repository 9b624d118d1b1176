"""Who is asking. Whoever calls the API is one person, an administrator of the site."""

#: The account that a session's token belongs to.
VIEWER = "5f03a91c20a100009d5e4431"
