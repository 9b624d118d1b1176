/** Reads the arguments that a user gives for a capture, from options and from files of argument sets. */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import type { Row, VendorOperation } from '#language/contract.ts';
import { pathArguments } from '#language/path-segments.ts';
import { nearestName } from '#language/read/suggest.ts';
import type { GivenArguments } from '#mirror/capture/arguments.ts';
import type { Context } from '../terminal/context.ts';
import { parseJson, readText } from './input.ts';

const argumentsOf = ({ segments, params }: VendorOperation): string[] => [
  ...pathArguments(segments),
  ...params.map(({ name }) => name),
];

const refuseUnknown = (name: string, known: Iterable<string>, what: string): never => {
  const nearest = nearestName(name, known);
  throw new AppError('invalid', `the connector has no ${what} "${name}"`, {
    detail: {
      hint:
        nearest === undefined
          ? `the connector has ${[...known].join(', ')}`
          : `did you mean "${nearest}"?`,
    },
  });
};

/** Parses `argument=value` or `operation.argument=value`. */
const readOne = (text: string, operations: readonly VendorOperation[]) => {
  const [, left = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (left === '') throw new AppError('invalid', `--arg takes <argument>=<value>, not "${text}"`);
  const [first = '', ...rest] = left.split('.');
  const owner = operations.find(({ name }) => name === first);
  if (owner !== undefined && rest.length > 0) {
    const argument = rest.join('.');
    const known = argumentsOf(owner);
    if (!known.includes(argument)) refuseUnknown(argument, known, `argument of ${first}`);
    return { operation: first, argument, value };
  }
  const known = new Set(operations.flatMap(argumentsOf));
  if (!known.has(left)) refuseUnknown(left, known, 'argument');
  return { operation: undefined, argument: left, value };
};

const readSets = async (
  context: Context,
  file: string,
  operations: readonly VendorOperation[],
): Promise<Map<string, Row[]>> => {
  const what = file === '-' ? 'standard input' : file;
  const value = parseJson(await readText(context, file === '-' ? '-' : `@${file}`), what);
  const names = operations.map(({ name }) => name);
  if (!isObject(value)) {
    const message = `${what} must have the form {"<operation>": [{"<argument>": <value>, …}, …]}`;
    throw new AppError('invalid', message);
  }
  const sets = new Map<string, Row[]>();
  for (const [name, list] of Object.entries(value)) {
    const operation = operations.find((one) => one.name === name);
    if (operation === undefined) refuseUnknown(name, names, 'operation');
    else if (!Array.isArray(list) || !list.every(isObject)) {
      throw new AppError('invalid', `${what}: "${name}" is not a list of sets of arguments`);
    } else {
      const known = argumentsOf(operation);
      for (const [index, set] of list.entries()) {
        const odd = Object.keys(set).find((argument) => !known.includes(argument));
        if (odd !== undefined) refuseUnknown(odd, known, `argument of ${name}`);
        const missing = pathArguments(operation.segments).find(
          (argument) => !Object.hasOwn(set, argument),
        );
        if (missing === undefined) continue;
        throw new AppError('invalid', `${what}: ${name}[${index}] lacks "${missing}"`);
      }
      sets.set(name, list);
    }
  }
  return sets;
};

/** Reads all arguments. Throws `invalid` for operations and arguments that the connector does not have. */
export const readGivenArguments = async (
  context: Context,
  { arg = [], argsFile }: { arg?: string[]; argsFile?: string },
  operations: readonly VendorOperation[],
): Promise<GivenArguments> => {
  const everywhere = new Map<string, string[]>();
  const byOperation = new Map<string, Map<string, string[]>>();
  for (const text of arg) {
    const { operation, argument, value } = readOne(text, operations);
    const of = operation === undefined ? everywhere : (byOperation.get(operation) ?? new Map());
    if (operation !== undefined) byOperation.set(operation, of);
    of.set(argument, [...(of.get(argument) ?? []), value]);
  }
  const sets =
    argsFile === undefined
      ? new Map<string, Row[]>()
      : await readSets(context, argsFile, operations);
  return { everywhere, byOperation, sets };
};
