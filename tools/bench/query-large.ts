/**
 * Measures queries of a world of a million rows through the API, one kind after the other: by a key and a foreign key,
 * by a field without an index, by a field that a link maps, by a plaintext, deep in the list, across linked worlds and
 * compared.
 */
import { readData } from '#wire/public-api/operations.ts';
import type { Network } from '../../test/support/programs/network.ts';
import { type Figure, median, sample } from './figure.ts';
import { folders, rows } from './large-world.ts';

const runs = { usual: 300, slow: 5 };
/** Targets in milliseconds. */
const targets = { usual: 10, unindexed: 1_000, made: 2_000, compare: 5_000 };

type Asked = {
  slug?: string;
  where?: Record<string, unknown>;
  /** Further parameters. */
  more?: { offset?: number; across?: boolean; compare?: boolean; resolve?: boolean };
};

/** Returns a pseudo-random whole number for a run. */
const anyOf = (run: number, count: number): number => (run * 7_919) % count;
const idOf = (run: number): number => 1 + anyOf(run, rows);
const titleOf = (id: number): string => `note ${id} of ${anyOf(id, 1_000_003)}`;

type Query = { name: string; runs: number; target: number; asked(run: number): Asked };

/**
 * Queries to measure, one of each kind. The first run of each includes its preparation: files unpacked, processes
 * started.
 */
const queries: Query[] = [
  {
    name: 'p50',
    runs: runs.usual,
    target: targets.usual,
    asked: (run) => ({
      where: run % 2 === 0 ? { id: idOf(run) } : { folder_id: 1 + anyOf(run, folders) },
    }),
  },
  {
    name: 'offset',
    runs: runs.usual,
    target: targets.usual,
    asked: (run) => ({ more: { offset: anyOf(run, rows) } }),
  },
  {
    name: 'folder.offset',
    runs: runs.usual,
    target: targets.usual,
    asked: (run) => ({ where: { folder_id: 1 + anyOf(run, folders) }, more: { offset: 900 } }),
  },
  {
    name: 'resolve',
    runs: runs.usual,
    target: targets.usual,
    asked: (run) => ({
      slug: 'kept',
      where: { id: idOf(run), title: titleOf(idOf(run)) },
      more: { resolve: true },
    }),
  },
  {
    name: 'across',
    runs: runs.usual,
    target: targets.usual,
    asked: (run) => ({ slug: 'linked', where: { id: idOf(run) }, more: { across: true } }),
  },
  {
    name: 'unindexed',
    runs: runs.slow,
    target: targets.unindexed,
    asked: () => ({ where: { title: 'none has it' } }),
  },
  {
    name: 'across.mapped',
    runs: runs.usual,
    target: targets.usual,
    asked: (run) => ({
      slug: 'linked',
      where: { title: titleOf(idOf(run)) },
      more: { across: true },
    }),
  },
  {
    name: 'compare',
    runs: runs.slow,
    target: targets.compare,
    asked: () => ({ slug: 'linked', more: { across: true, compare: true } }),
  },
];

const figureOf = (name: string, value: number, target: number): Figure => ({
  name: `query.1m.${name}`,
  value,
  unit: 'ms',
  floor: null,
  peer: null,
  target,
  better: 'lower',
});

/** Measures on a network with the worlds of `large-world.ts`. */
export const measureQueries = async (
  { client }: Network,
  say: (line: string) => void,
): Promise<Figure[]> => {
  const ask = async ({ slug = 'large', where, more = {} }: Asked): Promise<void> => {
    const query = {
      entity: 'notes',
      ...(where === undefined ? {} : { where: JSON.stringify(where) }),
      ...more,
    };
    await client.send(readData, { params: { slug }, query });
  };
  const figures: Figure[] = [];
  for (const { name, runs: times, target, asked } of queries) {
    say(`  querying the large world: ${name}`);
    const [first = 0] = await sample(1, () => ask(asked(rows - 1)));
    // The first query builds the index of the title for both worlds.
    if (name === 'across.mapped') figures.push(figureOf(`${name}.first`, first, targets.made));
    figures.push(figureOf(name, median(await sample(times, (run) => ask(asked(run)))), target));
  }
  return figures;
};
