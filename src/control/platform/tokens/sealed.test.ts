/** Tests the encryption of users' secrets. */
import { expect, it } from 'vitest';
import { Secret } from '#runtime/secret.ts';
import { seal, unseal } from './sealed.ts';

it('an encrypted text can be decrypted only for its purpose, with the current secret or a former one', () => {
  const sealed = seal(new Secret('old'), 'prj-a', 'the key ü');
  expect(sealed).not.toContain('key');
  expect(seal(new Secret('old'), 'prj-a', 'the key ü')).not.toBe(sealed);
  expect(unseal(new Secret('old'), 'prj-a', sealed)).toBe('the key ü');
  expect(unseal(new Secret('new', ['old']), 'prj-a', sealed)).toBe('the key ü');
  expect(unseal(new Secret('new'), 'prj-a', sealed)).toBeUndefined();
  expect(unseal(new Secret('old'), 'prj-b', sealed)).toBeUndefined();
  expect(
    unseal(
      new Secret('old'),
      'prj-a',
      sealed.replace(/..$/, (end) => (end === 'AA' ? 'BB' : 'AA')),
    ),
  ).toBeUndefined();
  expect(unseal(new Secret('old'), 'prj-a', '')).toBeUndefined();
});
