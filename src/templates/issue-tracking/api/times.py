"""Times: rows hold UTC in whole seconds, the API has milliseconds and an offset, people write durations."""

import re
from datetime import UTC, datetime, timedelta

_SECONDS = {"w": 5 * 8 * 3600, "d": 8 * 3600, "h": 3600, "m": 60}
#: A work log cannot be longer than this form can express.
_LONGEST_DURATION = 12
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([wdhm])")
_OFFSET = re.compile(r"([+-]\d\d)(\d\d)$")


def shown(time: str | None) -> str | None:
    """A time of a row as answers have it."""
    return None if time is None else f"{time[:19]}.000+0000"


def parse_time(text: str) -> str:
    """A time of a request as rows hold it. Raises ValueError for what is none."""
    try:
        time = datetime.fromisoformat(_OFFSET.sub(r"\1:\2", text.strip()))
        utc = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text} lies outside of the calendar") from error
    return utc.strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(time: str) -> datetime:
    """A time of a row."""
    return datetime.fromisoformat(time).astimezone(UTC)


def milliseconds(time: str) -> int:
    """Since 1970, as webhooks say it."""
    return int(moment(time).timestamp() * 1000)


def duration_seconds(text: str) -> int | None:
    """The seconds of "1d 4h", with days of eight hours and weeks of five days; None for what is none."""
    if len(text) > _LONGEST_DURATION:
        return None
    rest = _DURATION.sub("", text.lower()).strip()
    parts = _DURATION.findall(text.lower())
    if rest == "" and parts:
        return int(sum(float(amount) * _SECONDS[unit] for amount, unit in parts))
    return int(text) * 60 if text.strip().isdecimal() else None


def duration_text(seconds: int) -> str:
    """The same the other way: 36000 is "1d 2h"."""
    parts = []
    for unit, size in _SECONDS.items():
        amount, seconds = divmod(seconds, size)
        if amount:
            parts.append(f"{amount}{unit}")
    return " ".join(parts) or "0m"


def later(time: str, **by: int) -> str:
    return (moment(time) + timedelta(**by)).strftime("%Y-%m-%dT%H:%M:%SZ")
