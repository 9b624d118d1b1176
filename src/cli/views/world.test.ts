import picocolors from 'picocolors';
import { expect, it } from 'vitest';
import type { WorldDetail } from '#wire/public-api/worlds/world.ts';
import { describeWholeWorld, describeWorld } from './world.ts';

const view = { colors: picocolors.createColors(false), columns: Infinity };

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

it('the view of a world warns of a probable mistake', () => {
  const lines = describeWorld(world, view).split('\n');
  expect(lines.filter((line) => line.startsWith('warning'))).toEqual([
    'warning: notes.author is dropped by [redact], but every row must have it',
  ]);
});

it('the view of a world shows the redaction policy on one line, and marks no field as redacted', () => {
  const redact = { slug: 'board', hash: ['login'], drop: [], preserve: [], round: { at: 2 } };
  const shown = describeWorld({ ...world, redact }, view);
  expect(shown).toMatch(/^policy +login \[hash\], at \[round:2\]; salt board$/m);
  expect(shown).not.toContain('redacted');
});

it('a long warning is wrapped at the edge of the terminal', () => {
  const warnings = [`data/people.json: ${'all rows hold plaintext '.repeat(8)}`];
  const lines = describeWorld({ ...world, warnings }, { ...view, columns: 80 }).split('\n');
  const begin = lines.findIndex((line) => line.startsWith('warning: data/people.json'));
  expect(lines.slice(begin + 1).every((line) => line.startsWith(' '.repeat(9)))).toBe(true);
  expect(lines.length - begin).toBeGreaterThan(2);
  expect(lines.slice(begin).filter((line) => line.length > 80)).toEqual([]);
});

it('the view of an entity marks each field with its redaction mode', () => {
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
  const shown = describeWholeWorld({ ...world, redact }, [entity], view);
  expect(shown).toMatch(/^salt +board$/m);
  expect(shown.split('\n').slice(-5)).toEqual([
    'entities',
    '  cards  2 rows; key id; unique of.key+name; list → lists',
    '    id     integer',
    '    login  string | null  [hash]',
    '    note?  string | null  [round:2]',
  ]);
});
