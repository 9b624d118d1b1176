import { expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import {
  contractOf,
  replaceIn,
  smallWorld,
  textFile,
  toTree,
} from '#test/support/worlds/small-world.ts';
import type { Contract } from '../contract.ts';
import { languageWarnings } from './warnings.ts';

/** Returns the warnings about the world except those about its rows, which `plaintext-warnings.test.ts` tests. */
const warningsOf = (contract: Contract, files: readonly TreeFile[]): string[] =>
  languageWarnings({ ...contract, tasks: [] }, files, {});

it('a warning reports redaction after which rows do not fit their schemas', () => {
  expect(warningsOf(contractOf(), toTree(smallWorld()))).toEqual([]);
  const contract = contractOf((world) => {
    replaceIn(
      world,
      'connector.toml',
      'hash = ["login"]',
      'hash = ["login", "done_early", "author"]',
    );
    replaceIn(world, 'connector.toml', '["author.email"]', '["author.email", "title"]');
  });
  expect(warningsOf(contract, toTree(smallWorld()))).toEqual([
    'cards.title is dropped by [redact], but every row must have it',
    'cards.author is hashed by [redact], but objects are not redacted as a whole; name its fields',
    'cards.done_early is hashed by [redact], which makes its values texts, but its type is boolean',
  ]);
});

it('a warning reports a name in [redact] that no field has', () => {
  const contract = contractOf((world) =>
    replaceIn(world, 'connector.toml', 'hash = ["login"]', 'hash = ["login", "titel"]'),
  );
  expect(warningsOf(contract, toTree(smallWorld()))).toEqual([
    '[redact] names "titel", but no field of an entity has that name; did you mean "title"?',
  ]);
});

it('a warning reports hashed or preserved fields whose values are objects or lists of objects', () => {
  const contract = contractOf((world) => {
    const { properties } = world.json['schema/world.json'].$defs.Card;
    properties.people = { type: 'array', items: { type: 'object' } };
    replaceIn(world, 'connector.toml', 'hash = ["login"]', 'hash = ["people"]');
    replaceIn(world, 'connector.toml', 'preserve = [', 'preserve = ["author", ');
  });
  expect(warningsOf(contract, toTree(smallWorld()))).toEqual([
    'cards.author is preserved by [redact], but objects are not redacted as a whole; name its fields',
    'cards.people.* is hashed by [redact], but objects are not redacted as a whole; name its fields',
  ]);
});

it('a warning reports code in a folder from which no code is run', () => {
  const paths = ['api/build/b.py', 'api/inner/dist/a.ts', 'api/dist/notes.txt', 'docs/build/c.py'];
  const code = paths.map((path) => textFile(path, ''));
  expect(warningsOf(contractOf(), [...toTree(smallWorld()), ...code])).toEqual([
    'api/build/b.py is not run, because folders named build are never part of a world; rename the folder',
    'api/inner/dist/a.ts is not run, because folders named dist are never part of a world; rename the folder',
  ]);
});

it('a warning reports that pushes are configured to run tests but the world has none', () => {
  const files = toTree(smallWorld()).filter(({ path }) => !path.startsWith('tests/'));
  expect(warningsOf(contractOf(), files)).toEqual([
    'a push is configured to run the tests, but tests/ has no files, so no test runs',
  ]);
});

it('a warning reports a create route that can never make a row, but not a route that takes the whole body', () => {
  const operation = [
    ...['', '[[operations]]', 'name = "append_card"', 'method = "POST"', 'path = "/appended"'],
    ...['entity = "cards"', '[operations.api]', 'action = "create"'],
  ];
  const warningsWith = (...lines: string[]): string[] =>
    warningsOf(
      contractOf((world) => {
        world.text['connector.toml'] += [...operation, ...lines, ''].join('\n');
      }),
      toTree(smallWorld()),
    );
  expect(warningsWith('body = { title = "title" }')).toEqual([
    expect.stringMatching(
      /^append_card can never make a row: it does not fill id, .*of cards must/,
    ),
  ]);
  expect(warningsWith()).toEqual([]);
});
