/**
 * What a world says that compiles and is probably not meant: redaction after which its rows would no
 * longer fit their shapes (bare names are never refused, so this is told as a warning), tests to run on a
 * push of which there are none, and code in folders that are left out.
 */
import { leftOutFolder } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import { leftOutCode } from '../artifacts/bundle.ts';
import { describeContract } from '../artifacts/describe.ts';
import type { Contract } from '../contract.ts';

/** Most warnings about one world. */
const mostWarnings = 100;

/** A sentence for each slip: of tests, of fields in the order of entities and fields, of paths; the first of them. */
export const languageWarnings = (contract: Contract, files: readonly TreeFile[]): string[] =>
  [
    ...pushWarnings(contract, files),
    ...(contract.redact === null ? [] : redactWarnings(contract)),
    ...leftOutCode(contract, files).map(
      (path) =>
        `${path} is not run, as folders called ${leftOutFolder(path)} are no part of a world; rename the folder`,
    ),
  ].slice(0, mostWarnings);

/** A world may say so before it has tests. */
const pushWarnings = ({ onPush }: Contract, files: readonly TreeFile[]): string[] =>
  onPush.includes('tests') && !files.some(({ path }) => path.startsWith('tests/'))
    ? ['a push is to run the tests, but there is no file in tests/, so it runs none']
    : [];

const redactWarnings = (contract: Contract): string[] =>
  describeContract(contract).entities.flatMap(({ name, fields }) =>
    fields.flatMap(({ path, types, required, policy }) => {
      const field = `${name}.${path}`;
      if (policy === 'drop' && required) {
        return [`${field} is dropped by [redact], but every row must have it`];
      }
      if ((policy === 'hash' || policy === 'preserve') && types.includes('object')) {
        const done = policy === 'hash' ? 'hashed' : 'preserved';
        return [`${field} is ${done} by [redact], which leaves objects alone; name its fields`];
      }
      const isText = types.includes('string') || types.includes('array');
      return policy === 'hash' && !isText
        ? [`${field} is hashed by [redact], which makes it a text, but it is ${types.join(' or ')}`]
        : [];
    }),
  );
