import picocolors from 'picocolors';
import { expect, it } from 'vitest';
import type { WorldDetail } from '#wire/public-api/world.ts';
import { describeWholeWorld, describeWorld } from './world.ts';

const world: WorldDetail = {
  id: 'wld_1',
  containerId: 'wld_1',
  slug: 'board',
  path: 'local/default/board',
  kind: 'mock-tools',
  name: 'Board',
  description: null,
  version: {
    id: 'ver_1',
    number: 1,
    state: 'READY',
    contentHash: 'sha256:0',
    message: null,
    author: 'pk-local',
    origin: 'create',
    createdAt: '2025-01-02T03:04:05.000Z',
    entityCounts: { cards: 2 },
  },
  surfaces: ['api'],
  tools: [],
  tasks: [],
  url: '',
  links: { api: '', world: '', tasks: '', sessions: '' },
  redact: null,
  dependencies: [],
  archivedAt: null,
  createdAt: '2025-01-02T03:04:05.000Z',
  head: { id: 'ver_1', number: 1 },
  warnings: ['notes.author is dropped by [redact], but every row must have it'],
  files: [],
};

it('says what a world probably does not mean', () => {
  const lines = describeWorld(world).split('\n');
  expect(lines.filter((line) => line.startsWith('warning'))).toEqual([
    expect.stringMatching(/^warning +notes\.author is dropped by \[redact\], but every row/),
  ]);
});

it('marks each field with what redaction does to it', () => {
  const redact = { slug: 'board', hash: ['login'], drop: [], preserve: [], round: {} };
  const field = { types: ['null', 'string'], required: true, policy: null };
  const entity = {
    name: 'cards',
    primaryKey: ['id'],
    unique: [['of.key', 'name']],
    relationships: [{ fields: ['list'], target: 'lists' }],
    fields: [
      { ...field, path: 'id', types: ['integer'] },
      { ...field, path: 'login', policy: 'hash' },
      { ...field, path: 'note', required: false, policy: 'round:2' },
    ],
  };
  const shown = describeWholeWorld({ ...world, redact }, [entity], picocolors.createColors(false));
  expect(shown).toMatch(/^salt +board$/m);
  expect(shown.split('\n').slice(-5)).toEqual([
    'entities',
    '  cards  2 rows; key id; unique of.key+name; list → lists',
    '    id     integer',
    '    login  string | null  [hash]',
    '    note?  string | null  [round:2]',
  ]);
});
