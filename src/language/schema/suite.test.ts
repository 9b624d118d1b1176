/**
 * Runs the official test suite of JSON Schema 2020-12, except for groups of tests that need features which a world's
 * schemas may not use. `left-out.json` lists those groups, each with the codes of the problems that it has.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { takeSchema } from '#test/support/worlds/schemas.ts';

type Group = {
  description: string;
  schema: boolean | { $schema?: unknown; $defs?: Record<string, unknown> };
  tests: { description: string; data: unknown; valid: boolean }[];
};

const suite = fileURLToPath(
  new URL('../../../test/support/random/json-schema-suite/', import.meta.url),
);

const readJson = <Value>(file: string): Value =>
  JSON.parse(readFileSync(`${suite}${file}`, 'utf8')) as Value;

/** Codes of the problems because of which a group is left out, by file and group. */
const leftOut = readJson<Record<string, Record<string, string[]>>>('left-out.json');

/** Groups of tests that assume decisions other than this project's, each with the reason. */
const decidedOtherwise: ReadonlyMap<string, string> = new Map([
  ['format.json', 'says that a format is only a note; in a world those that we know are held to'],
]);

const files = readdirSync(suite, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json') && name !== 'left-out.json')
  .filter((name) => !decidedOtherwise.has(name))
  .sort();

const takeGroup = ({ schema: written }: Group): ReturnType<typeof takeSchema> => {
  if (typeof written === 'boolean') return takeSchema(written, {});
  const { $schema: _, $defs = {}, ...schema } = written;
  return takeSchema(schema, $defs);
};

describe('the official suite', () => {
  it('is installed', () => {
    expect(files.length).toBeGreaterThan(50);
  });

  const seen = { atOnce: 0, later: 0 };

  it.each(files)('%s', (file) => {
    const refused: Record<string, string[]> = {};
    const wrong: string[] = [];
    for (const group of readJson<Group[]>(file)) {
      const taken = takeGroup(group);
      if (taken.refused !== undefined) refused[group.description] = taken.refused;
      else {
        for (const { description, data, valid } of group.tests) {
          const isRight = taken.fits(data) === valid && taken.validates(data) === valid;
          const isSeen = taken.looksFit(data);
          if (!isRight || (isSeen && !valid)) wrong.push(`${group.description}: ${description}`);
          if (valid) seen[isSeen ? 'atOnce' : 'later'] += 1;
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(refused).toEqual(leftOut[file] ?? {});
  });

  it('has valid values, most of which the fast pre-check accepts', () => {
    expect(seen.atOnce).toBeGreaterThan(seen.later);
  });
});
