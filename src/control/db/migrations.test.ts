/**
 * Tests that migrations only add. A migration runs while replicas of the previous release still work, so it must not
 * remove or change anything that they use. The test searches the text of migrations for forbidden statements. A thing
 * may be removed in a later release, once no release uses it; that migration is then added to the list below. The
 * numbers of migrations have gaps, because branches that are developed at the same time take separate ranges of
 * numbers, and few use all of theirs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const dir = join(import.meta.dirname, 'migrations');

/** Migrations that may remove something because the previous release no longer uses it. */
const contracting: readonly string[] = [];

const forbidden: [RegExp, string][] = [
  [/\bdrop\s+(table|column|view|function|type)\b/i, 'drops what an older release uses'],
  [/\brename\s+(column\b|constraint\b|to\b|\w+\s+to\b)/i, 'renames what an older release uses'],
  [
    /\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b/i,
    'changes a type that an older release reads',
  ],
  [/\balter\s+column\s+\w+\s+set\s+not\s+null\b/i, 'demands what an older release may not write'],
  [
    /\badd\s+column\s+(?!.*\b(default|generated)\b)[^,;]*\bnot\s+null\b/i,
    'adds a column that an older release does not fill, without a default',
  ],
];

/** Returns the part of a migration that is run to apply it (`up`), without comments. */
const upOf = (text: string): string =>
  (text.split(/^-- Down Migration$/m)[0] ?? '').replaceAll(/--.*$/gm, '');

const faultsOf = (text: string): string[] =>
  forbidden.flatMap(([pattern, fault]) => (pattern.test(upOf(text)) ? [fault] : []));

describe('a migration', () => {
  const names = readdirSync(dir).filter((file) => file.endsWith('.sql'));

  it.each(names.filter((name) => !contracting.includes(name)))('only adds things: %s', (name) => {
    expect(faultsOf(readFileSync(join(dir, name), 'utf8'))).toEqual([]);
  });

  it.each([
    'alter table hosts drop column size;',
    'drop table requests;',
    'alter table hosts rename column size to shape;',
    'alter table hosts rename to machines;',
    'alter table hosts alter column uses type bigint;',
    'alter table hosts alter column size set not null;',
    'alter table hosts add column zone text not null;',
  ])('is refused if it does more than add: %s', (text) => {
    expect(faultsOf(text)).toHaveLength(1);
  });

  it('may remove and change things in its down part', () => {
    const text = "alter table hosts add column zone text not null default '';\n";
    expect(faultsOf(`${text}-- Down Migration\nalter table hosts drop column zone;`)).toEqual([]);
  });
});

describe('JSON of clients', () => {
  // These functions fail on `\u0000` and on lone surrogates, which JSON may hold.
  const looksInto = /#?->>?\s*['$]|\bjsonb|\bjson_(typeof|array_|each|object_keys|strip_|extract_)/;
  const statements = readdirSync(import.meta.dirname, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => [file, readFileSync(join(import.meta.dirname, file), 'utf8')] as const);
  const migrations = readdirSync(dir).map(
    (file) => [file, upOf(readFileSync(join(dir, file), 'utf8'))] as const,
  );

  it.each([...statements, ...migrations])('is not searched by any statement of %s', (_, text) => {
    expect(looksInto.test(text)).toBe(false);
  });

  it.each(["c.error -> 'code'", "a.input->>'x'", 'x::jsonb', 'json_typeof(x)'])(
    'is recognized as searched by the SQL %s',
    (text) => {
      expect(looksInto.test(text)).toBe(true);
    },
  );
});
