import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { Filter } from '#store/read/filter.ts';
import { createStoreFiles, type StoreFiles } from '#test/support/data/store-files.ts';
import { sampleContract, sampleEntity } from '#test/support/worlds/sample-contract.ts';
import { readInOrder } from './ordered.ts';
import { openStoreFile, type StoreFile } from './store-file.ts';

const contract = sampleContract({
  entities: [
    sampleEntity('things', {
      properties: {
        id: { type: 'integer' },
        code: { type: ['string', 'null'] },
        size: { type: 'number' },
      },
      optional: ['code', 'size'],
      unique: [[['code']], [['size']]],
    }),
  ],
});

/** More rows than one batch reads, with missing keys, and texts of all kinds. */
const things = Array.from({ length: 9_001 }, (_, index): Row => {
  const id = (index * 7_919) % 9_001;
  const first = ['a', 'B', '\u0000', '\uffff', '\u{1f600}'][index % 7] ?? '';
  return {
    id,
    ...(index % 3 === 0 ? { code: null } : index % 5 === 0 ? {} : { code: `${first}${index}` }),
    ...(index % 4 === 0 ? {} : { size: index % 2 === 0 ? index : index + 0.5 }),
  };
});

let files: StoreFiles;
let file: StoreFile;

beforeAll(() => {
  files = createStoreFiles();
  file = openStoreFile(files.write(contract, { things }), contract);
});

afterAll(() => {
  file.close();
  files.remove();
});

const all: Filter = { path: ['id'], match: 'gte', value: 0 };

it.each(['id', 'code', 'size'])(
  'rows are read in the same order along the index of %s as when they are sorted',
  (field) => {
    const read = (where: Filter[]) => [
      ...readInOrder({ file, entity: 'things', where }, { field, map: undefined, called: '' }, [
        'id',
        field,
      ]),
    ];
    const along = read([]);
    expect(along).toHaveLength(things.length);
    expect(along).toEqual(read([all]));
  },
);
