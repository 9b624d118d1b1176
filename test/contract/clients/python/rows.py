"""What the flows read of rows that a client gives as objects: the names, numbers or logins of all."""


def names(rows):
    return [row.name for row in rows]


def numbers(rows):
    return [row.number for row in rows]


def logins(rows):
    return [row.login for row in rows]
