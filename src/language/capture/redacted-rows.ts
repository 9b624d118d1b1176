/**
 * The rows of one request under a write mode: each redacted or verified, or what is wrong in words that quote nothing
 * of them. Rows that are sent to be redacted may hold secrets anywhere, in a wrong field or in place of a name, so
 * what is said of them names only what the contract declares.
 */
import { isObject, parsePointer, toPointer } from '#domain/json.ts';
import type { Contract, Row } from '../contract.ts';
import type { RedactionMode } from '../redaction-modes.ts';
import { createRedaction } from './redaction.ts';

export type RowsByEntity = Record<string, Row[]>;

/** What is wrong with a row, or with the rows of an entity; `path` leads there from the rows. */
export type RowsProblem = { path: string[]; message: string };

/** What is wrong with a value, as whoever checked it says it. */
type Fault = { pointer: string; detail: string };

type Redacting = Pick<Contract, 'definitions' | 'entities' | 'redact'>;

const mostProblems = 50;

/** The names that a policy speaks of; a field that is dropped need not be declared. */
const policyNames = (redact: Contract['redact']): string[] =>
  redact === null
    ? []
    : [...redact.hash, ...redact.drop, ...redact.preserve, ...Object.keys(redact.round)].flatMap(
        (path) => path.split('.'),
      );

/** The names of all properties that schemas declare, at any depth. */
const propertyNames = (schemas: readonly unknown[]): Set<string> => {
  const names = new Set<string>();
  const left = [...schemas];
  for (let schema = left.pop(); schema !== undefined; schema = left.pop()) {
    if (Array.isArray(schema)) left.push(...schema);
    else if (isObject(schema)) {
      if (isObject(schema.properties)) {
        for (const name of Object.keys(schema.properties)) names.add(name);
      }
      left.push(...Object.values(schema).filter((part) => typeof part === 'object'));
    }
  }
  return names;
};

/** Where a checker shows the value that it found, which is always last. */
const foundMark = ', is ';

const undeclaredField =
  'has a field that the contract does not declare; rows are redacted, so its name is not repeated';

/**
 * Makes what takes out of a fault all that may be a secret: the value, and names on the way to it that the contract
 * does not declare.
 */
export const createWithholding = ({
  definitions,
  entities,
  redact,
}: Redacting): ((fault: Fault) => Fault) => {
  const schemas = [...Object.values(definitions), ...entities.map(({ schema }) => schema)];
  const declared = new Set([...propertyNames(schemas), ...policyNames(redact)]);
  return ({ pointer, detail }) => {
    const segments = parsePointer(pointer);
    const end = segments.findIndex((name) => !declared.has(name) && !/^\d{1,9}$/.test(name));
    const [said = ''] = detail.split(foundMark, 1);
    const isShown = said.length < detail.length;
    if (end === -1) {
      return { pointer, detail: isShown ? `${said}; its value is not repeated` : detail };
    }
    const isName = said.startsWith('is not a known field');
    return {
      pointer: toPointer(segments.slice(0, end)),
      detail: isName ? undeclaredField : `holds, under a name that is not repeated, what ${said}`,
    };
  };
};

const listNames = ({ entities }: Pick<Contract, 'entities'>): string =>
  entities.map(({ name }) => name).join(', ');

/**
 * The rows as they are to be stored, or at most 50 problems. Rows of entities that there are not are refused, because
 * no contract will look at them; whether rows fit the contract is for others to check afterwards.
 */
export const redactRows = (
  contract: Redacting,
  rows: Readonly<Record<string, readonly Row[]>>,
  mode: RedactionMode,
): { ok: true; rows: RowsByEntity } | { ok: false; problems: RowsProblem[] } => {
  const { applyPolicy, verifyPolicy } = createRedaction(contract.redact);
  const withhold = createWithholding(contract);
  const known = new Set(contract.entities.map(({ name }) => name));
  const problems: RowsProblem[] = [];
  const kept: [string, Row[]][] = [];
  for (const [entity, list] of Object.entries(rows)) {
    if (!known.has(entity)) {
      const message = `names an entity that the world has not; it has ${listNames(contract)}`;
      problems.push({ path: [], message });
    } else if (mode === 'apply') kept.push([entity, list.map(applyPolicy)]);
    else {
      kept.push([entity, [...list]]);
      for (const [index, row] of list.entries()) {
        const breach = verifyPolicy(row);
        if (breach === undefined) continue;
        const { pointer, detail } = withhold(breach);
        const inside = parsePointer(pointer);
        const path = [entity, String(index), ...inside];
        const message = `${entity}[${index}] ${inside[0] ?? 'a field'} [${breach.policy}] ${detail}`;
        if (problems.push({ path, message }) >= mostProblems) break;
      }
    }
    if (problems.length >= mostProblems) break;
  }
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, rows: Object.fromEntries(kept) };
};
