/**
 * What a world says that compiles and is probably not meant: redaction after which its rows would no
 * longer fit their shapes. Bare names are never refused, so this is told as a warning.
 */
import type { Contract } from './contract.ts';
import { describeContract } from './describe.ts';

/** Warnings told of one world. */
const mostWarnings = 100;

/** A sentence for each field at fault, in the order of entities and fields; the first of them. */
export const languageWarnings = (contract: Contract): string[] =>
  contract.redact === null ? [] : redactWarnings(contract).slice(0, mostWarnings);

const redactWarnings = (contract: Contract): string[] =>
  describeContract(contract).entities.flatMap(({ name, fields }) =>
    fields.flatMap(({ path, types, required, policy }) => {
      const field = `${name}.${path}`;
      if (policy === 'drop' && required) {
        return [`${field} is dropped by [redact], but every row must have it`];
      }
      if (policy === 'hash' && types.includes('object')) {
        return [`${field} is hashed by [redact], which leaves objects alone; name its fields`];
      }
      const isText = types.includes('string') || types.includes('array');
      return policy === 'hash' && !isText
        ? [`${field} is hashed by [redact], which makes it a text, but it is ${types.join(' or ')}`]
        : [];
    }),
  );
