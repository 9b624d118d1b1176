/**
 * Compares the validator with an independent implementation: both must accept the same values.
 *
 * The independent implementation is Hyperjump's, which interprets schemas by the standard's own model of annotations
 * and has its own tests of formats. The inputs avoid known differences: Hyperjump divides by decimal fractions in
 * binary, and accepts a leap second only on a day that had one. It validates punycode labels, and throws at an e-mail
 * address in brackets of an unknown kind.
 */
import {
  registerSchema,
  type SchemaObject,
  setShouldValidateFormat,
  unregisterSchema,
  validate,
} from '@hyperjump/json-schema/draft-2020-12';
import '@hyperjump/json-schema/formats';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { breakValue, fitValue } from '#test/support/random/aimed-values.ts';
import { choiceLists, createChoices } from '#test/support/random/choices.ts';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import {
  chooseFamily,
  formatTexts,
  type SchemaFamily,
} from '#test/support/random/schema-choices.ts';
import { takeSchema } from '#test/support/worlds/schemas.ts';
import { assertedFormats } from './formats.ts';

const dialect = 'https://json-schema.org/draft/2020-12/schema';
const address = 'https://svc.test/family';

/**
 * Returns the validator of the independent implementation. It returns undefined for a value at which that
 * implementation throws.
 */
const readOtherwise = async ({ root, definitions }: SchemaFamily) => {
  const schema = typeof root === 'boolean' ? { allOf: [root] } : root;
  registerSchema({ ...schema, $defs: definitions } as SchemaObject, address, dialect);
  try {
    const validator = await validate(address);
    return (value: unknown): boolean | undefined => {
      try {
        return validator(value as never).valid;
      } catch {
        return undefined;
      }
    };
  } finally {
    unregisterSchema(address);
  }
};

beforeAll(() => setShouldValidateFormat(true));

describe('JSON Schema', () => {
  it('gets the same verdicts from our validator and from an independent one', async () => {
    const seen = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        choiceLists(160),
        fc.array(choiceLists(60), { minLength: 6, maxLength: 6 }),
        async (forSchema, forValues) => {
          const family = chooseFamily(createChoices(forSchema));
          const taken = takeSchema(family.root, family.definitions);
          expect(taken.refused).toBeUndefined();
          const fitsOtherwise = await readOtherwise(family);
          for (const numbers of forValues) {
            const choices = createChoices(numbers);
            let value = fitValue(family.root, family.definitions, choices);
            for (let breaks = choices.below(3); breaks > 0; breaks -= 1) {
              value = breakValue(value, choices);
            }
            const accepted = taken.fits?.(value);
            seen[accepted ? 'accepted' : 'refused'] += 1;
            if (accepted !== (fitsOtherwise(value) ?? accepted)) {
              const shown = JSON.stringify({ ...family, value }, null, 1);
              throw new Error(`we ${accepted ? 'accept' : 'refuse'} it: ${shown}`);
            }
          }
        },
      ),
      fuzzRuns(300),
    );
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(200);
  });
});

/** Generates texts that are similar to valid texts of a format. */
const nearTexts = (samples: readonly string[]) =>
  choiceLists(24).map((numbers) => {
    const choices = createChoices(numbers);
    const letters = '0129aAzZtTPWDMYHS.:-+/@[]%#?~"\\ _é٠!$&\'()*,;=<>^`{|}\n';
    let text = choices.of(samples);
    for (let changes = choices.below(4); changes > 0; changes -= 1) {
      const at = choices.below(text.length + 1);
      const added = choices.oneIn(3) ? '' : choices.of([...letters]);
      text = text.slice(0, at) + added + text.slice(at + choices.below(2));
    }
    return text;
  });

const isKnownDifference = (format: string, text: string): boolean =>
  (/time/.test(format) && text.includes(':60')) ||
  (format === 'hostname' && /(^|\.)..--/.test(text));

describe('formats', () => {
  it('accept the same texts as in the independent validator', () => {
    expect(Object.keys(formatTexts).sort()).toEqual(Object.keys(assertedFormats).sort());
  });

  it.each(Object.entries(formatTexts))('%s', async (format, samples) => {
    const family = { root: { format }, definitions: {} };
    const fitsOtherwise = await readOtherwise(family);
    const isOurs = assertedFormats[format];
    fc.assert(
      fc.property(nearTexts(samples), (text) => {
        fc.pre(!isKnownDifference(format, text));
        expect(isOurs?.(text)).toBe(fitsOtherwise(text) ?? false);
      }),
      fuzzRuns(1_000),
    );
  });
});
