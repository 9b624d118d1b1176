import { expect, it } from 'vitest';
import { contractOf, replaceIn } from '#test/support/small-world.ts';
import { languageWarnings } from './warnings.ts';

it('warns of redaction after which rows do not fit their shapes', () => {
  expect(languageWarnings(contractOf())).toEqual([]);
  const contract = contractOf((world) => {
    replaceIn(
      world,
      'connector.toml',
      'hash = ["login"]',
      'hash = ["login", "done_early", "author"]',
    );
    replaceIn(world, 'connector.toml', '["author.email"]', '["author.email", "title"]');
  });
  expect(languageWarnings(contract)).toEqual([
    'cards.title is dropped by [redact], but every row must have it',
    'cards.author is hashed by [redact], which leaves objects alone; name its fields',
    'cards.done_early is hashed by [redact], which makes it a text, but it is boolean',
  ]);
});
