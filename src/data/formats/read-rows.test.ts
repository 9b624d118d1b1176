import { gzipSync, zstdCompressSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Contract } from '#language/contract.ts';
import { notesWorld } from '#test/support/worlds/worlds.ts';
import { type FoundRow, formatLimits, type RowFault } from './found.ts';
import { readRows } from './read-rows.ts';

const compiled = compileTree(notesWorld());
if (!compiled.ok) throw new Error('the world of notes does not compile');
const notes = compiled.contract;

/** Returns the contract of the notes world with other fields of a note. */
const withFields = (properties: Record<string, unknown>): Contract => ({
  ...notes,
  entities: notes.entities.map((entity) => ({
    ...entity,
    schema: { type: 'object', additionalProperties: false, required: ['id'], properties },
  })),
});

type Given = { entity?: string; contract?: Contract | undefined; cutAt?: number };

const read = async (
  name: string,
  content: string | Uint8Array,
  { entity, contract = notes, cutAt = 7 }: Given = {},
): Promise<{ rows: FoundRow[]; faults: RowFault[] }> => {
  const bytes = Buffer.from(content as string);
  const rows: FoundRow[] = [];
  const faults: RowFault[] = [];
  const open = async function* () {
    for (let at = 0; at < bytes.length; at += cutAt) yield bytes.subarray(at, at + cutAt);
  };
  for await (const batch of readRows({ name, open }, { entity, contract })) {
    rows.push(...batch.rows);
    faults.push(...batch.faults);
  }
  return { rows, faults };
};

/** Reads a file that must be refused; returns the error's message and hint. */
const refusal = async (...given: Parameters<typeof read>): Promise<string> => {
  const error = await read(...given).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error('was not refused', { cause: error });
  return [error.message, error.detail.hint].filter(Boolean).join(' | ');
};

const one = { id: 1, folder_id: 1, title: 'é"x, 😀', done: true };
const two = { id: 2, folder_id: 1, title: 'b', done: false };
const csv = 'id,folder_id,title,done\n1,1,"é""x, 😀",true\n2,1,b,FALSE\n';

describe('rows of files', () => {
  const table: [string, string, string][] = [
    ['a list', 'notes.json', JSON.stringify([one, two], null, 2)],
    ['a list by entity', 'x.json', JSON.stringify({ folders: [], notes: [one, two] })],
    ['lines', 'notes.jsonl', `${JSON.stringify(one)}\r\n\n${JSON.stringify(two)}`],
    [
      'lines that name their entity',
      'x.jsonl',
      [one, two].map((row) => JSON.stringify({ entity: 'notes', row })).join('\n'),
    ],
    ['CSV', 'notes.csv', csv],
    [
      'CSV with semicolons and \\r\\n',
      'notes.csv',
      csv.replaceAll(/,(?! )/g, ';').replaceAll('\n', '\r\n'),
    ],
    ['CSV with tabs', 'notes.tsv', csv.replaceAll(/,(?! )/g, '\t')],
  ];

  it.each(table)(
    'are read from %s: plain, compressed, with a byte order mark, and in pieces of any size',
    async (_, name, text) => {
      const packed: [string, Uint8Array][] = [
        [name, Buffer.from(text)],
        [`${name}.gz`, gzipSync(text)],
        [name, zstdCompressSync(text)],
        [name, Buffer.from(`\ufeff${text}`)],
      ];
      for (const [file, bytes] of packed) {
        for (const cutAt of [1, 2, 1_000]) {
          const { rows, faults } = await read(file, bytes, { cutAt });
          expect(faults).toEqual([]);
          expect(rows.map(({ entity, row }) => ({ entity, row }))).toEqual([
            { entity: 'notes', row: one },
            { entity: 'notes', row: two },
          ]);
        }
      }
    },
  );

  it('are reported with the line on which they begin', async () => {
    const placesOf = async (name: string, text: string) =>
      (await read(name, text)).rows.map(({ at }) => at);
    expect(await placesOf('notes.jsonl', '{"id":1}\n\n{"id":2}\n')).toEqual([1, 3]);
    expect(await placesOf('notes.json', '[\n {\n  "id": 1 },\n\n {"id":2}]')).toEqual([2, 5]);
    const text = 'id,title\n1,"a\nb"\n\n2,c\n3,"d\n\ne"\n4,f\n';
    expect(await placesOf('notes.csv', text)).toEqual([2, 5, 6, 9]);
  });

  it('are read from Parquet, with dates and long numbers as in JSON', async () => {
    const bytes = new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'id', data: [1n, 2n], type: 'INT64' },
          { name: 'title', data: ['a', null], type: 'STRING', nullable: true },
          { name: 'at', data: [new Date(0), new Date(86_400_000)], type: 'TIMESTAMP' },
          { name: 'score', data: [0.5, Number.NaN], type: 'DOUBLE' },
          { name: 'long', data: [9_007_199_254_740_993n, 1n], type: 'INT64' },
          { name: 'tags', data: [['x'], []], type: 'JSON' },
        ],
      }),
    );
    const names = ['title', 'at', 'score', 'long', 'tags'];
    const contract = withFields({
      id: { type: 'integer' },
      ...Object.fromEntries(names.map((name) => [name, {}])),
    });
    const expected = [
      {
        id: 1,
        title: 'a',
        at: '1970-01-01T00:00:00.000Z',
        score: 0.5,
        long: '9007199254740993',
        tags: ['x'],
      },
      { id: 2, at: '1970-01-02T00:00:00.000Z', long: 1, tags: [] },
    ];
    for (const file of [bytes, gzipSync(bytes)]) {
      const { rows } = await read('notes.parquet', file, { contract, cutAt: 5_000 });
      expect(rows.map(({ row }) => row)).toEqual(expected);
      expect(rows.map(({ at }) => at)).toEqual([1, 2]);
    }
  });

  it.each([
    ['a line', 'notes.jsonl', '{"id":1,"score":1234567890123.4567}'],
    ['a document', 'notes.json', '[{"id":1,"deep":{"list":[0.12345678901234567890]}}]'],
  ])(
    'are refused when a fraction in a file of %s has more digits than can be kept exactly',
    async (_, name, text) => {
      const { rows, faults } = await read(name, text);
      expect(rows).toEqual([]);
      expect(faults[0]?.detail).toContain(
        'more digits than can be stored exactly; write it as a text',
      );
    },
  );

  it('keep a CSV cell as text if a number would lose digits of the cell, and the contract then refuses the text', async () => {
    const contract = withFields({
      id: { type: 'integer' },
      score: { type: 'number' },
      deep: { type: 'array' },
    });
    const text = 'id,score,deep\n1,1234567890123.4567,[0.12345678901234567890]\n2,0.1,[0.5]\n';
    const { rows } = await read('notes.csv', text, { contract });
    expect(rows.map(({ row }) => row)).toEqual([
      { id: 1, score: '1234567890123.4567', deep: '[0.12345678901234567890]' },
      { id: 2, score: 0.1, deep: [0.5] },
    ]);
  });

  it('have their format recognised without a name, as from standard input', async () => {
    const given = { entity: 'notes' };
    for (const text of [
      csv,
      JSON.stringify([one, two]),
      `${JSON.stringify(one)}\n${JSON.stringify(two)}\n`,
    ]) {
      const { rows } = await read('standard input', text, given);
      expect(rows.map(({ row }) => row)).toEqual([one, two]);
    }
  });

  it("belong to the entity that the user named, else to that of the file's name, else to the world's only one", async () => {
    const entityOf = async (name: string, given: Given = {}) =>
      (await read(name, '{"id":1}\n', given)).rows[0]?.entity;
    const [folders] = notes.entities;
    expect(await entityOf('exports/Notes.jsonl')).toBe('notes');
    expect(await entityOf('notes.jsonl', { entity: 'folders' })).toBe('folders');
    const only = { ...notes, entities: folders === undefined ? [] : [folders] };
    expect(await entityOf('x.jsonl', { contract: only })).toBe('folders');
    expect(await refusal('x.jsonl', '{"id":1}')).toBe(
      'the rows of x.jsonl name no entity, and no entity has the name of the file | name the entity of the rows with --entity: folders, notes',
    );
    expect(await refusal('x.jsonl', '{}', { entity: 'note' })).toContain('did you mean "notes"?');
  });
});

describe('cells', () => {
  it('are converted to the type of their field, and stay text if they do not fit it', async () => {
    const contract = withFields({
      id: { type: 'integer' },
      number: { type: 'number' },
      flag: { type: ['boolean', 'null'] },
      text: { type: 'string' },
      list: { type: 'array' },
      shape: { type: ['object', 'null'] },
    });
    const text = [
      'id,number,flag,text,list,shape',
      '1,-1.5e3,TRUE,007,"[1, ""a""]","{""a"": 1}"',
      '2.0,,,,,',
      'x,1e999,maybe,"",[1,null',
      '9007199254740993,12,null,true,"[{""a"":1,""a"":2}]",{}',
    ].join('\n');
    const { rows } = await read('notes.csv', text, { contract });
    expect(rows.map(({ row }) => row)).toEqual([
      { id: 1, number: -1500, flag: true, text: '007', list: [1, 'a'], shape: { a: 1 } },
      { id: 2 },
      { id: 'x', number: '1e999', flag: 'maybe', list: '[1', shape: null },
      {
        id: '9007199254740993',
        number: 12,
        flag: null,
        text: 'true',
        list: '[{"a":1,"a":2}]',
        shape: {},
      },
    ]);
  });

  it('that are empty become absent if the field is optional, and empty texts if it is required', async () => {
    const { rows } = await read('notes.csv', 'id,folder_id,title,done\n,,,\n');
    expect(rows.map(({ row }) => row)).toEqual([{ title: '' }]);
  });
});

describe('files that cannot be read', () => {
  const faultless: [string, string, string | Uint8Array, string][] = [
    ['empty files', 'notes.csv', '', 'notes.csv is empty'],
    ['blank tables', 'notes.csv', '\n\n', 'is empty; its first line should name the fields'],
    [
      'UTF-16',
      'notes.csv',
      Buffer.from('\ufeffid,title', 'utf16le'),
      'is UTF-16, not UTF-8 | convert it: iconv -f UTF-16',
    ],
    ['UTF-16 without a mark', 'notes.json', Buffer.from('[{}]', 'utf16le'), 'is UTF-16'],
    [
      'Latin-1',
      'notes.csv',
      Buffer.from('id,title\n1,a\n2,caf\xe9\n', 'latin1'),
      'notes.csv line 3: holds the byte 0xe9, which is not UTF-8; the file looks like Latin-1',
    ],
    [
      'half characters',
      'notes.jsonl',
      Buffer.from('{"title":"é').subarray(0, 11),
      'line 1: ends in the middle of a character',
    ],
    [
      'damaged archives',
      'notes.csv.gz',
      gzipSync(csv).subarray(0, 40),
      'is damaged or cut off: it cannot be unpacked as gzip',
    ],
    [
      'archives of something else',
      'notes.csv',
      Buffer.from([0x1f, 0x8b, 1, 2, 3, 4]),
      'is damaged',
    ],
    [
      'columns that are no field',
      'notes.csv',
      'id,titel,x\n1,a,b\n',
      'has columns that are no field of notes: "titel", "x" | did you mean "title"?',
    ],
    ['columns twice', 'notes.csv', 'id,title,id\n', 'has the same column more than once: "id"'],
    ['columns without a name', 'notes.csv', 'id,,title\n', 'names no field in column 2'],
    ['tables without the key', 'notes.csv', 'title\na\n', 'lacks the key of notes: "id"'],
    [
      '10,000 columns',
      'notes.csv',
      `${Array.from({ length: 10_000 }, (_, i) => `c${i}`).join(',')}\n`,
      'has 10000 columns; a table may have 1,000',
    ],
    [
      'open quotes',
      'notes.csv',
      'id,title\n1,"a\nb\n',
      'line 3: a quote is opened, and the file ends',
    ],
    ['text behind a quote', 'notes.csv', 'id,title\n1,"a"b\n', 'line 2: after a closing quote'],
    ['quotes within a text', 'notes.csv', 'id,title\n1,a"b\n', 'line 2: a quote is within a text'],
    [
      'documents that are cut off',
      'notes.json',
      '[{"id":1},\n{"id":',
      'line 2: a value begins here and does not end',
    ],
    [
      'documents without their end',
      'notes.json',
      '[{"id":1}\n',
      'the file ends instead of a comma or the end of the list',
    ],
    [
      'more than one document',
      'notes.json',
      '[]\n[]',
      'line 2: "[" was found instead of the end of the file',
    ],
    [
      'lists of something else',
      'notes.json',
      '[1]',
      '"1" was found instead of a row, {…}, or the end of the list',
    ],
    [
      'one row alone',
      'notes.json',
      '{"id": 1}',
      '"1" was found instead of a list of rows, [row, …]',
    ],
    ['an entity twice', 'x.json', '{"notes":[],"notes":[]}', 'line 1: "notes" is written twice'],
    ['what is called Parquet', 'notes.parquet', 'id\n1\n', 'is not a Parquet file'],
    [
      'broken Parquet',
      'notes.parquet',
      `PAR1${'\xff'.repeat(30)}PAR1`,
      'cannot be read as Parquet',
    ],
  ];

  it.each(faultless)(
    'are refused with the name of the file: %s',
    async (_, name, content, expected) => {
      expect(await refusal(name, content)).toContain(expected);
    },
  );

  it('are refused when a row or a line exceeds the size limit of rows', async () => {
    const long = 'x'.repeat(formatLimits.rowBytes + 1);
    const given = { cutAt: 1024 * 1024 };
    expect(await refusal('notes.jsonl', `{}\n{"title":"${long}`, given)).toContain(
      'line 2: is longer',
    );
    expect(await refusal('notes.json', `[{"title":"${long}`, given)).toContain(
      'line 1: a row is longer',
    );
    expect(await refusal('notes.csv', `id,title\n1,${long}`, given)).toContain(
      'line 2: a record is longer',
    );
  });

  it('are refused when they unpack to more than 500 times their size', async () => {
    const bomb = gzipSync(Buffer.alloc(formatLimits.unpackedBytes * 2, ' '));
    expect(await refusal('notes.jsonl.gz', bomb, { cutAt: 65_536 })).toMatch(
      /unpacks to over 500 times|longer than/,
    );
    const lines = gzipSync(Buffer.alloc(formatLimits.unpackedBytes * 2, '\n'));
    expect(await refusal('notes.json.gz', lines, { cutAt: 4_096 })).toContain(
      'unpacks to over 500 times',
    );
  });
});

describe('rejected rows', () => {
  it('are reported with their lines, and the other rows are read', async () => {
    const deep = `{"a":${'['.repeat(100)}${']'.repeat(100)}}`;
    const text = [
      '{"id":1}',
      '{"id":1,"id":2}',
      '{"id":12345678901234567890}',
      '{"id":',
      '7',
      deep,
      '{"t":"\\ud83d"}',
      '{"id":2}',
    ];
    const { rows, faults } = await read('notes.jsonl', text.join('\n'));
    expect(rows.map(({ row }) => row)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(faults.map(({ at, field, detail }) => [at, field, detail])).toEqual([
      [2, 'id', 'the key /id is written twice'],
      [
        3,
        'id',
        '12345678901234567890 has more digits than can be stored exactly; write it as a text',
      ],
      [4, null, 'is not complete JSON: it ends too early'],
      [5, null, 'is not a JSON object'],
      [6, null, 'nests deeper than 64 levels'],
      [7, null, 'contains half of a surrogate pair, which is no character'],
    ]);
  });

  it('include CSV records with more or fewer values than columns', async () => {
    const { rows, faults } = await read('notes.csv', 'id,title\n1,a,b\n2\n3,c\n');
    expect(rows).toHaveLength(1);
    expect(faults.map(({ at, detail }) => `${at}: ${detail}`)).toEqual([
      '2: has 3 values, but the first line names 2 fields',
      '3: has 1 values, but the first line names 2 fields',
    ]);
  });
});
