/**
 * Redacts or verifies the rows of one request under a write mode, or reports their problems without quoting the rows.
 * Rows that are not redacted may have secrets anywhere, in a wrong field or in place of a name, so problems name only
 * what the contract declares.
 */
import { isObject, parsePointer, toPointer } from '#domain/json.ts';
import type { Contract, Row } from '../contract.ts';
import type { RedactionMode } from '../redaction-modes.ts';
import { createRedaction } from './redaction.ts';

export type RowsByEntity = Record<string, Row[]>;

/** A problem of a row, or of the rows of an entity; `path` leads to the place, beginning with the entity. */
export type RowsProblem = { path: string[]; message: string };

/** A problem of a value, as its validator reports it. */
type Fault = { pointer: string; detail: string };

type Redacting = Pick<Contract, 'definitions' | 'entities' | 'redact'>;

const mostProblems = 50;

/**
 * Returns the names that a policy mentions. They are safe to quote, and a dropped field need not be declared in a
 * schema.
 */
const policyNames = (redact: Contract['redact']): string[] =>
  redact === null
    ? []
    : [...redact.hash, ...redact.drop, ...redact.preserve, ...Object.keys(redact.round)].flatMap(
        (path) => path.split('.'),
      );

/** Returns the names of all properties that schemas declare, at any depth. */
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

/** Text that precedes the quoted value in a validator's message; nothing follows the value. */
const foundMark = ', is ';

const undeclaredField =
  'has a field that the contract does not declare; its name is not repeated, because rows are redacted';

/**
 * Returns a function that removes from a fault everything that may be a secret: the value, and names in its path that
 * the contract does not declare.
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
 * Returns the rows in the form to be stored, or at most 50 problems. Rows of unknown entities are refused, because no
 * contract will validate them. The caller then checks whether the rows fit the contract.
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
      const message = `names an entity that the world does not have; the world has ${listNames(contract)}`;
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
