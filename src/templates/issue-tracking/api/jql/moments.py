"""Times in queries: dates, times, distances from now such as "-5d", and the beginnings and ends of periods."""

import calendar
import re
from datetime import UTC, datetime, timedelta

_DISTANCE = re.compile(r"([+-]?)(\d+)([yMwdhm])")
_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S")
#: What a function's argument counts in where it names no unit.
_UNITS = {"day": "d", "week": "w", "month": "M", "year": "y"}


def moment_of(text: str, now: datetime) -> datetime | None:
    """The moment that a text of a query means; None for what is none."""
    for form in _FORMATS:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return moved(now, text)


def moved(start: datetime, text: str, unit: str = "") -> datetime | None:
    """A moment by a distance: "-1w 2d" before, "4h" after."""
    rest = text.strip()
    if unit and re.fullmatch(r"[+-]?\d+", rest):
        rest += unit
    if not rest or _DISTANCE.sub("", rest).strip():
        return None
    sign, moment = 1, start
    for mark, amount, of in _DISTANCE.findall(rest):
        sign = -1 if mark == "-" else 1 if mark == "+" else sign
        try:
            moment = _by(moment, sign * int(amount), of)
        except (OverflowError, ValueError):
            return None
    return moment


def _by(moment: datetime, amount: int, unit: str) -> datetime:
    if unit in "yM":
        months = moment.year * 12 + moment.month - 1 + amount * (12 if unit == "y" else 1)
        year, month = months // 12, months % 12 + 1
        day = min(moment.day, calendar.monthrange(year, month)[1])
        return moment.replace(year=year, month=month, day=day)
    days = {"w": 7, "d": 1}.get(unit)
    if days:
        return moment + timedelta(days=days * amount)
    return moment + (timedelta(hours=amount) if unit == "h" else timedelta(minutes=amount))


def boundary(name: str, argument: str, now: datetime) -> datetime | None:
    """The moment of `startOfWeek(-1)`, `endOfDay("+2d")` and their like; None for a wrong argument."""
    edge, period = ("start", name[7:]) if name.startswith("startof") else ("end", name[5:])
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    first = {
        "day": day,
        "week": day - timedelta(days=(day.weekday() + 1) % 7),
        "month": day.replace(day=1),
        "year": day.replace(month=1, day=1),
    }[period]
    unit = _UNITS[period]
    begins = moved(first, argument, unit) if argument else first
    if begins is None or edge == "start":
        return begins
    return _by(begins, 1, unit) - timedelta(seconds=1)
