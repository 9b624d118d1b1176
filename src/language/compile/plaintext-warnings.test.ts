import { describe, expect, it } from 'vitest';
import { compileChanged, type SmallWorld } from '#test/support/worlds/small-world.ts';
import { createRedaction } from '../capture/redaction.ts';
import { plaintextWarnings } from './plaintext-warnings.ts';

const digest = `sha256:${'0'.repeat(64)}`;

const policy = (world: SmallWorld, redact: string): void => {
  const toml = world.text['connector.toml'] ?? '';
  world.text['connector.toml'] = toml.replace(/\[redact\]\n(?:.+\n)*/, `[redact]\n${redact}\n`);
};

const warningsOf = (change: (world: SmallWorld) => void): string[] => {
  const compiled = compileChanged((world) => {
    for (const card of world.json['data/cards.json']) card.author.login = digest.slice(0, 40);
    change(world);
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems, null, 2));
  return plaintextWarnings(compiled.contract, compiled.baseRows);
};

const longer = (world: SmallWorld): void => {
  world.json['schema/people.json'].$defs.Login.maxLength = 100;
};

describe('rows of data/', () => {
  it('that have plaintext are counted by file; the warning has the fields, the policy and the way out', () => {
    const [first, ...others] = warningsOf((world) => {
      longer(world);
      policy(world, 'hash = ["login"]');
      const cards = world.json['data/cards.json'];
      for (const card of cards) card.author.login = digest;
      cards[0].author = { login: 'ada', reports_to: { login: 'eve' } };
    });
    expect(first).toMatch(
      /^data\/cards\.json: 1 of \d+ rows hold plaintext in author\.login \[hash\], author\.reports_to\.login \[hash\], as \[redact\] is not applied to data\/; in the folder of the world "svc worlds data extract \. data\/cards\.json --entity cards --out data\/cards\.json" writes them redacted$/,
    );
    expect(others.filter((warning) => warning.startsWith('data/'))).toEqual([]);
  });

  it('that are redacted, dropped and rounded raise no warning', () => {
    const warnings = warningsOf((world) => {
      longer(world);
      policy(world, 'hash = ["login"]\ndrop = ["secret"]\nround = { estimate = 1 }');
      for (const card of world.json['data/cards.json']) {
        Object.assign(card, { author: { login: digest }, estimate: 1.5 });
      }
    });
    expect(warnings.filter((warning) => warning.startsWith('data/'))).toEqual([]);
  });

  it('that would not fit their schema after redaction are reported with the advice to change the schema first', () => {
    const [warning] = warningsOf((world) => policy(world, 'hash = ["login"]'));
    expect(warning).toMatch(
      /; redacted they would not fit \(cards\.author .+\): change the schema/,
    );
  });

  it('are never quoted, and neither are names that the contract does not declare', () => {
    const warnings = warningsOf((world) => {
      world.json['schema/world.json'].$defs.Card.properties.of = { type: 'object' };
      policy(world, 'hash = ["token"]');
      world.json['data/cards.json'][0].of = { 'private name': { token: 'private value' } };
    });
    expect(warnings[0]).toContain('of [hash]');
    expect(warnings.join()).not.toContain('private');
  });

  it('raise no warning in a world without a policy, nor for preserved fields', () => {
    expect(warningsOf((world) => policy(world, 'preserve = ["title"]'))).toEqual([]);
    const compiled = compileChanged();
    if (!compiled.ok) throw new Error('does not compile');
    expect(plaintextWarnings({ ...compiled.contract, redact: null }, compiled.baseRows)).toEqual(
      [],
    );
  });

  it('raise no warning after the policy was applied to them', () => {
    const compiled = compileChanged(longer);
    if (!compiled.ok) throw new Error('does not compile');
    const { contract, baseRows } = compiled;
    const { applyPolicy } = createRedaction(contract.redact);
    const redacted = Object.entries(baseRows).map(([name, rows]) => [name, rows.map(applyPolicy)]);
    const ofFiles = (warnings: string[]) => warnings.filter((one) => one.startsWith('data/'));
    expect(ofFiles(plaintextWarnings(contract, baseRows))).not.toEqual([]);
    expect(ofFiles(plaintextWarnings(contract, Object.fromEntries(redacted)))).toEqual([]);
  });
});

it('a warning about a seed with plaintext names the task and the key that redacts the seed', () => {
  const warnings = warningsOf((world) => {
    longer(world);
    policy(world, 'hash = ["login"]');
  });
  expect(warnings.filter((warning) => warning.startsWith('task '))).toEqual([
    expect.stringMatching(
      /^task \S+, seed of cards: .+ plaintext in author\.login \[hash\]; write redact = "apply" in \[seed\]/,
    ),
  ]);
});
