import mermaid from 'mermaid';
import { describe, expect, it } from 'vitest';
import { sampleContract, sampleEntity } from '#test/support/worlds/sample-contract.ts';
import { sampleApi } from '#test/support/worlds/sample-world.ts';
import type { Contract } from '../contract.ts';
import { readmeOf } from './readme.ts';

const diagramIn = (readme: string): string =>
  /```mermaid\n([\s\S]*?)\n```/.exec(readme)?.[1] ?? 'there is no diagram';

/** Fails with the parser's message if the diagram in the README cannot be parsed. */
const parse = async (readme: string): Promise<void> => {
  const { diagramType } = await mermaid.parse(diagramIn(readme));
  expect(diagramType).toBe('er');
};

/** Returns the different numbers of cells that the lines of tables have. */
const cellCounts = (readme: string): Set<number> => {
  const lines = readme.split('\n').filter((line) => line.startsWith('|'));
  return new Set(lines.map((line) => line.split(/(?<!\\)\|/).length - 2));
};

const rowOf = (readme: string, field: string): string | undefined =>
  readme.split('\n').find((line) => line.startsWith(`| \`${field}\` |`));

const person = {
  type: 'object',
  description: 'A person.',
  required: ['login'],
  properties: {
    login: { type: 'string' },
    email: { type: ['string', 'null'], format: 'email' },
    reports_to: { $ref: '#/$defs/Person' },
  },
};

const world = (parts: Partial<Contract> = {}): Contract =>
  sampleContract({
    definitions: { Person: person },
    entities: [
      sampleEntity('lists', { properties: { id: { type: 'integer' } } }),
      sampleEntity('cards', {
        properties: {
          id: { type: 'integer' },
          list: { type: 'integer' },
          next: { type: ['integer', 'null'] },
          title: { type: 'string', description: 'What is to be done.' },
          state: { enum: ['open', 'done', null] },
          author: { $ref: '#/$defs/Person' },
          watchers: { type: 'array', items: { $ref: '#/$defs/Person' } },
          labels: { type: 'array', items: { type: 'string' } },
          size: { type: ['number', 'null'] },
          extra: true as never,
        },
        optional: ['next', 'size', 'extra'],
        unique: [[['title'], ['author', 'login']], [['list']]],
        relationships: [
          { fields: ['list'], target: 'lists' },
          { fields: ['next'], target: 'cards' },
        ],
      }),
    ],
    redact: {
      slug: 'board',
      hash: ['login'],
      drop: ['watchers.*.email'],
      preserve: [],
      round: { size: 1 },
    },
    ...parts,
  });

describe('readmeOf', () => {
  it('describes each field', () => {
    const readme = readmeOf(world());
    expect(rowOf(readme, 'id')).toBe('| `id` | integer | yes | no | key |  |');
    expect(rowOf(readme, 'title')).toBe(
      '| `title` | string | yes | no | unique | What is to be done. |',
    );
    expect(rowOf(readme, 'list')).toContain('| unique, → `lists` |');
    expect(rowOf(readme, 'state')).toContain('| "open" or "done" | yes | yes |');
    expect(rowOf(readme, 'author')).toContain('| object | yes | no |  | A person. |');
    expect(rowOf(readme, 'author.email')).toContain('| string (email) | no | yes |');
    expect(rowOf(readme, 'labels')).toContain('| list of string |');
    expect(rowOf(readme, 'extra')).toContain('| anything | no | yes |');
  });

  it('shows the redaction policy of a field, also of inner fields', () => {
    const readme = readmeOf(world());
    expect(rowOf(readme, 'author.login')).toContain('| unique, `[hash]` |');
    expect(rowOf(readme, 'watchers.*.email')).toContain('`[drop]`');
    expect(rowOf(readme, 'size')).toContain('`[round:1]`');
    expect(readme).toContain('its salt is `board`');
    expect(readmeOf(world({ redact: null }))).not.toContain('salt');
  });

  it('ends for definitions that refer to one another in cycles', () => {
    const readme = readmeOf(world());
    expect(rowOf(readme, 'author.reports_to')).toBeDefined();
    expect(rowOf(readme, 'author.reports_to.login')).toBeUndefined();
  });

  it('draws references, and distinguishes optional ones', async () => {
    const readme = readmeOf(world());
    await parse(readme);
    const lines = diagramIn(readme).split('\n');
    expect(lines).toContain('  "lists" ||--o| "cards" : "list"');
    expect(lines).toContain('  "cards" |o--o{ "cards" : "next"');
    expect(lines).toContain('    integer id PK');
    expect(lines).toContain('    integer list FK, UK');
  });

  it('quotes names that are keywords of the diagram notation', async () => {
    const words = ['class', 'style', 'direction', 'title', 'one', 'only', 'u', 'to', 'end', 'pk'];
    const entities = words.map((name) =>
      sampleEntity(name, {
        primaryKey: [name],
        properties: { [name]: { type: 'string' }, Fk: { type: 'string' } },
        relationships: [{ fields: ['Fk'], target: words[0] ?? '' }],
      }),
    );
    await parse(readmeOf(sampleContract({ entities })));
  });

  it('leaves the fields out of a large diagram, and leaves out a very large diagram', async () => {
    const many = (count: number): string =>
      readmeOf(
        sampleContract({
          entities: Array.from({ length: count }, (_, index) =>
            sampleEntity(`entity_number_${index}_of_many`, {
              properties: { id: { type: 'integer' } },
            }),
          ),
        }),
      );
    const large = many(900);
    await parse(large);
    expect(diagramIn(large)).not.toContain('PK');
    expect(many(2_000)).toContain('There are too many entities for a diagram.');
  });

  it('lists tools, routes and tasks', () => {
    const readme = readmeOf(
      world({
        api: sampleApi,
        tools: [
          {
            name: 'cards.archive',
            description: 'Puts it away.',
            input: {},
            output: {},
            binding: { kind: 'typescript', file: 'tools.ts', function: 'cards_archive' },
          },
        ],
        tasks: [
          {
            name: 'finish',
            description: 'Finish a card.',
            tools: null,
            instruction: null,
            seed: { mode: 'append', rows: {} },
            grader: { kind: 'sql', source: 'select 1 as passed' },
          },
        ],
      }),
    );
    expect(readme).toContain('| `cards.archive` | `cards_archive` in `tools.ts` | Puts it away. |');
    expect(readme).toContain('| `finish` | SQL | Finish a card. |');
    expect(readme).toContain(
      '| GET | `/repos/{owner}/{repo}/issues` ? `state`, `number[]`, `q` | `list_repo_issues` | List issues |',
    );
  });

  it('escapes untrusted text', async () => {
    const nasty =
      '# a | b\n\n| c | `d` \\| <img src=x onerror=alert(1)> [e](javascript:1) ![f](//g) ```\u202emermaid \ud800';
    const readme = readmeOf(
      sampleContract({
        name: nasty,
        domainVersion: nasty,
        package: { id: nasty, version: nasty },
        entities: [
          {
            ...sampleEntity('things', {
              properties: { id: { type: 'integer', description: nasty }, kind: { enum: [nasty] } },
            }),
          },
        ],
        tools: [
          {
            name: 'x',
            description: nasty,
            input: {},
            output: {},
            binding: { kind: 'operation', operation: nasty },
          },
        ],
      }),
    );
    await parse(readme);
    expect(cellCounts(readme)).toEqual(new Set([4, 6, 3]));
    expect(readme).not.toMatch(/<(?!\/?code>)/);
    expect(readme).not.toMatch(/(?<!\\)\]\(/);
    expect(readme).not.toContain('\u202e');
    expect(readme.match(/```/g)).toHaveLength(2);
    expect(readme.isWellFormed()).toBe(true);
  });

  it('ends for lists that contain lists with the same schema', () => {
    const nested = { type: 'array', items: { $ref: '#/$defs/Nested' } };
    const properties = { id: { type: 'integer' }, nested: { $ref: '#/$defs/Nested' } };
    const entities = [sampleEntity('things', { properties })];
    const readme = readmeOf(sampleContract({ entities, definitions: { Nested: nested } }));
    expect(rowOf(readme, 'nested')).toContain('| list of list of ');
  });

  it('limits the length of the text if entities share many fields', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [
        `field_${index}`,
        { type: 'string', description: 'x'.repeat(290) },
      ]),
    );
    const entities = Array.from({ length: 30 }, (_, index) =>
      sampleEntity(`entity_${index}`, { properties: { id: { type: 'integer' }, ...properties } }),
    );
    const readme = readmeOf(sampleContract({ entities }));
    expect(readme.length).toBeLessThan(1_700_000);
    expect(readme).toContain('### entity_29');
  });
});
