/** Tests Parquet values that no JSON number can hold: they are read exactly, or refused. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { unpackLz4, unpackLz4Raw } from './lz4.ts';
import { readParquet } from './parquet.ts';

const values = fileURLToPath(
  new URL('../../../test/support/data/row-files/values.parquet', import.meta.url),
);

const read = async (bytes: Uint8Array, path?: string) => {
  const given = { contract: undefined, entity: 'rows', otherColumns: undefined };
  const pieces = (async function* () {
    yield bytes;
  })();
  const rows: unknown[] = [];
  const faults: unknown[] = [];
  for await (const batch of readParquet({ name: 'rows.parquet', path }, pieces, given)) {
    rows.push(...batch.rows.map(({ row }) => row));
    faults.push(...batch.faults);
  }
  return { rows, faults };
};

type Columns = Parameters<typeof parquetWriteBuffer>[0];
const written = (options: Columns) => read(new Uint8Array(parquetWriteBuffer(options)));

describe('a Parquet file', () => {
  it('written by Arrow keeps decimals, times and keys exactly, in columns, lists, structs and maps', async () => {
    const { rows, faults } = await read(readFileSync(values), values);
    expect(faults).toEqual([]);
    expect(rows).toEqual([
      {
        id: 1,
        micros: '2026-11-20T10:00:00.123456Z',
        early: '1969-12-31T23:59:59.999999Z',
        nanos: '2025-11-20T10:00:00.123456789Z',
        time_ms: '10:00:01',
        time_us: '10:00:01.000005',
        date: '2026-11-20',
        long_decimal: '12345678901234567890.12',
        decimal: 12.5,
        decimals: ['12345678901234567890.12', null],
        lists: [[1, 2], [], null],
        part: {
          amount: '99999999999999999.99',
          time: '00:00:00.000000001',
          rates: { a: 1.5, b: null },
        },
        parts: [{ amount: 0.1 }],
        by_number: { 1: '2026-01-01T00:00:00.000001Z' },
        by_date: { '2026-01-01': 'x' },
        unsigned: '18446744073709551615',
        bytes: '/wA=',
        bare_text: 'text',
      },
      {
        id: 2,
        early: '0001-01-01T00:00:00.000Z',
        nanos: '1969-12-31T23:59:59.999999999Z',
        time_ms: '00:00:00.500',
        date: '0001-01-01',
        long_decimal: -0.05,
        decimal: -99999.99,
        lists: [],
        parts: [],
        by_number: {},
        unsigned: 5,
        bytes: 'YWI=',
        bare_text: '\ufeffx',
      },
    ]);
  });

  it.each([
    ['whole bytes', { type: 'BYTE_ARRAY' }, new Uint8Array([0xff, 0xfe]), 'not UTF-8 text'],
    [
      'JSON with a number of 20 digits',
      { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'JSON' } },
      '{"a":12345678901234567890}',
      'more digits than can be stored',
    ],
    [
      'a time that no day has',
      { type: 'INT64', converted_type: 'TIME_MICROS' },
      86_400_000_000n,
      'a time of day that does not exist',
    ],
    [
      'a timestamp beyond all calendars',
      { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
      2n ** 62n,
      'outside the years that can be written',
    ],
  ] as const)('is read except for the row with %s, which is refused', async (_, type, odd, why) => {
    const schema = [
      { name: 'root', num_children: 2 },
      { name: 'id', type: 'INT32', repetition_type: 'REQUIRED' },
      { name: 'odd', repetition_type: 'OPTIONAL', ...type },
    ] as NonNullable<Columns['schema']>;
    const columnData = [
      { name: 'id', data: [1, 2] },
      { name: 'odd', data: [null, odd] },
    ];
    const { rows, faults } = await written({ schema, columnData });
    expect(rows).toEqual([{ id: 1 }]);
    expect(faults).toEqual([
      { at: 2, entity: 'rows', field: 'odd', detail: expect.stringContaining(why) },
    ]);
  });

  it('with a variant column is refused, since its decimals would lose digits', async () => {
    const columnData: Columns['columnData'] = [{ name: 'any', data: [{ a: 1 }], type: 'VARIANT' }];
    await expect(written({ columnData })).rejects.toThrow('a column of the type VARIANT, "any"');
  });
});

describe('LZ4', () => {
  /** An LZ4 block: three letters, then nine that repeat them, then one more. */
  const block = Uint8Array.of(0x35, 0x61, 0x62, 0x63, 3, 0, 0x10, 0x21);
  const text = 'abcabcabcabc!';

  it('is unpacked bare and framed, and with overlapping matches', () => {
    const framed = Uint8Array.of(0, 0, 0, 13, 0, 0, 0, 8, ...block);
    const whole = [
      unpackLz4Raw(block, 13),
      unpackLz4(framed, 13),
      unpackLz4(block, 13),
      unpackLz4(Uint8Array.of(...framed, ...framed), 26).subarray(13),
    ];
    expect(whole.map((bytes) => Buffer.from(bytes).toString())).toEqual([text, text, text, text]);
  });

  it.each([
    ['cut off', block.subarray(0, 5), 13],
    ['longer than it says', block, 5],
    ['shorter than it says', block, 14],
    ['with a match before its begin', Uint8Array.of(0x15, 0x61, 9, 0, 0x10, 0x21), 11],
  ])('is refused when it is %s', (_, bytes, length) => {
    expect(() => unpackLz4Raw(bytes, length)).toThrow('an LZ4 block is invalid');
  });
});
