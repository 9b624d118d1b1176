import { expect, it } from 'vitest';
import { createServing } from './serving.ts';
import type { Session } from './session.ts';

const at = (name: string): string => `https://${name}.example`;

/** Returns a session whose address is first `first`, and then each of the other addresses in order. */
const moved = (first: string, ...others: string[]): Session => {
  const session = { address: at(first), formerAddresses: [] as string[] } as unknown as Session;
  const serving = createServing();
  serving.begin(session);
  for (const name of others) serving.moveTo(at(name));
  return session;
};

it('a session stores a former address even if other addresses alternate', () => {
  const { address, formerAddresses } = moved('old', 'a', 'b', 'a', 'b', 'a', 'b');
  expect(address).toBe(at('b'));
  expect(formerAddresses).toEqual([at('a'), at('old')]);
});

it('if a session has too many former addresses, it drops the one that was replaced longest ago', () => {
  const { formerAddresses } = moved('a', 'b', 'c', 'd', 'e', 'f');
  expect(formerAddresses).toEqual(['e', 'd', 'c', 'b'].map(at));
});
