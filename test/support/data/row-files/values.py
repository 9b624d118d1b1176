"""Writes values.parquet, with values that doubles, milliseconds and objects of JavaScript lose. Needs pyarrow 25."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

part = pa.struct(
    [
        ("amount", pa.decimal128(38, 2)),
        ("time", pa.time64("ns")),
        ("rates", pa.map_(pa.string(), pa.decimal128(30, 5))),
    ]
)
rows = pa.table(
    {
        "id": pa.array([1, 2], pa.int64()),
        "micros": pa.array([dt.datetime(2026, 11, 20, 10, 0, 0, 123456), None], pa.timestamp("us")),
        "early": pa.array([dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(1, 1, 1)], pa.timestamp("us", "UTC")),
        "nanos": pa.array([1763632800123456789, -1], pa.timestamp("ns")),
        "time_ms": pa.array([dt.time(10, 0, 1), dt.time(0, 0, 0, 500000)], pa.time32("ms")),
        "time_us": pa.array([dt.time(10, 0, 1, 5), None], pa.time64("us")),
        "date": pa.array([dt.date(2026, 11, 20), dt.date(1, 1, 1)], pa.date32()),
        "long_decimal": pa.array([Decimal("12345678901234567890.12"), Decimal("-0.05")], pa.decimal128(38, 2)),
        "decimal": pa.array([Decimal("12.50"), Decimal("-99999.99")], pa.decimal128(7, 2)),
        "decimals": pa.array([[Decimal("12345678901234567890.12"), None], None], pa.list_(pa.decimal128(38, 2))),
        "lists": pa.array([[[1, 2], [], None], []], pa.list_(pa.list_(pa.int64()))),
        "part": pa.array(
            [{"amount": Decimal("99999999999999999.99"), "time": 1, "rates": [("a", Decimal("1.5")), ("b", None)]}, None], part
        ),
        "parts": pa.array([[{"amount": Decimal("0.10"), "time": None, "rates": None}], []], pa.list_(part)),
        "by_number": pa.array([[(1, dt.datetime(2026, 1, 1, 0, 0, 0, 1))], []], pa.map_(pa.int32(), pa.timestamp("us"))),
        "by_date": pa.array([[(dt.date(2026, 1, 1), "x")], None], pa.map_(pa.date32(), pa.string())),
        "unsigned": pa.array([2**64 - 1, 5], pa.uint64()),
        "bytes": pa.array([b"\xff\x00", b"ab"], pa.binary(2)),
        "bare_text": pa.array([b"text", b"\xef\xbb\xbfx"], pa.binary()),
    }
)
pq.write_table(rows, Path(__file__).with_name("values.parquet"), compression="lz4")
