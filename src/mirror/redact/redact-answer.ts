/**
 * Redacts a vendor's answer: applies the world's policy to its body, its URL and its headers, before anything is
 * written.
 * A policy is defined on rows, but in an answer, rows are nested somewhere within. So each value is checked as a part
 * of the body, of its row, and of each row that ingest will create from it; the strictest rule is applied.
 */

import { redactScalar } from '#language/capture/redact-modes.ts';
import {
  enterItem,
  enterKey,
  type FieldPolicy,
  type Position,
  putPart,
  type Rules,
  rowPosition,
  rulesOf,
  strongest,
} from '#language/capture/redact-rules.ts';
import type {
  Contract,
  FieldPath,
  RedactPolicy,
  Row,
  VendorOperation,
} from '#language/contract.ts';
import { isCredentialName, type Secrets, secretMark } from './secrets.ts';

/** Path below a value to the start of a row, or of a field of a row; `*` stands for any item of a list. */
type Anchor = { rest: FieldPath; field: string | null };

export type AnswerRedaction = {
  /** Returns the redacted arguments of a request, without arguments that the policy drops. */
  arguments(operation: VendorOperation, given: Row): Row;
  body(operation: VendorOperation, body: unknown): unknown;
  /** Redacts the body of a request, whose fields are those of the row that the request writes. */
  request(body: unknown): unknown;
  /** Redacts a URL or a header: removes credentials from URLs in it, and values of fields that the policy names. */
  text(text: string): string;
};

const dropped = Symbol('dropped');

const noPolicy: RedactPolicy = { slug: '', hash: [], drop: [], preserve: [], round: {} };

/**
 * Returns the places in the bodies of an operation where rows begin, and where fields begin that ingest turns into rows
 * of another entity.
 */
const anchorsOf = ({ results, ingest }: VendorOperation): Anchor[] =>
  [results, [...results, '*']].flatMap((row): Anchor[] => [
    { rest: row, field: null },
    ...ingest.explode.flatMap(({ field, carry, take }): Anchor[] => {
      const item = [...row, ...field, '*'];
      const taken =
        take === null
          ? [{ rest: item, field: null }]
          : take.map((one) => ({ rest: [...item, ...one.from], field: one.field }));
      return [...taken, ...carry.map((one) => ({ rest: [...row, ...one.from], field: one.field }))];
    }),
  ]);

const stepInto = (anchors: readonly Anchor[], key: string, isItem: boolean): Anchor[] =>
  anchors.flatMap(({ rest: [next, ...rest], field }) =>
    next === key || (isItem && next === '*') ? [{ rest, field }] : [],
  );

/** Matches addresses in a text: absolute URLs, and paths. */
const urlPattern = /https?:\/\/[^\s<>"'\\]+|(?<![^\s<("'])\/[^\s<>"'\\]+/g;

const nowhere = 'http://vendor.invalid';

/** Redacts one URL within a text. */
const redactUrl = (rules: Rules, text: string): string => {
  const isPath = text.startsWith('/');
  const url = URL.parse(text, nowhere);
  if (url === null) return text;
  let isChanged = url.username !== '' || url.password !== '';
  url.username = '';
  url.password = '';
  const kept = [...url.searchParams].flatMap(([name, value]): [string, string][] => {
    const { policy } = enterKey(rules, rowPosition(rules), name);
    if (policy === undefined && !isCredentialName(name)) return [[name, value]];
    isChanged = true;
    if (policy === undefined) return [[name, secretMark]];
    if (policy.mode === 'drop') return [];
    const number = policy.mode === 'round' ? Number(value) : Number.NaN;
    const given = Number.isFinite(number) ? number : value;
    return [[name, String(redactScalar(rules.slug, policy, given))]];
  });
  if (!isChanged) return text;
  url.search = new URLSearchParams(kept).toString();
  return isPath ? url.pathname + url.search + url.hash : url.toString();
};

type Walk = {
  rules: Rules;
  secrets: Secrets;
  /** Redacted values with their replacements, since URLs may contain such values again. */
  replaced: Map<string, string>;
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Replaces those parts of a URL or path that are redacted values. */
const redactParts = ({ replaced }: Walk, text: string): string =>
  replaced.size === 0
    ? text
    : text.replace(/[^/?&=#]+/g, (part) => {
        const kept = replaced.get(decode(part));
        return kept === undefined ? part : encodeURIComponent(kept);
      });

const scrubText = (walk: Walk, text: string): string =>
  walk.secrets.scrub(
    text.replace(urlPattern, (url) => redactUrl(walk.rules, redactParts(walk, url))),
  );

const fewestChars = 4;

/** Redacts a scalar, and records its replacement, which is also used in URLs. */
const redactKnown = ({ rules, replaced }: Walk, policy: FieldPolicy, value: unknown): unknown => {
  const kept = redactScalar(rules.slug, policy, value);
  if (kept !== value && typeof value === 'string' && value.length >= fewestChars) {
    replaced.set(value, String(kept));
  }
  return kept;
};

/** Replaces values in URLs that were redacted elsewhere in the answer. */
const scrubAddresses = (walk: Walk, value: unknown): unknown => {
  if (typeof value === 'string') return /[/]/.test(value) ? scrubText(walk, value) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => scrubAddresses(walk, item));
  if (typeof value !== 'object' || value === null) return value;
  const copy: Row = {};
  for (const [key, part] of Object.entries(value)) putPart(copy, key, scrubAddresses(walk, part));
  return copy;
};

const scrubScalar = (walk: Walk, value: unknown): unknown => {
  if (typeof value === 'string') return scrubText(walk, value);
  if (typeof value !== 'number') return value;
  const text = String(value);
  return walk.secrets.scrub(text) === text ? value : secretMark;
};

const policyAt = (positions: readonly Position[]): FieldPolicy | undefined =>
  positions.reduce<FieldPolicy | undefined>(
    (held, { policy }) => strongest(held, policy),
    undefined,
  );

/**
 * Returns all positions of a value under the policy: the positions inherited from the value around it, and the
 * positions of rows that begin at the value.
 */
const arriveAt = (rules: Rules, positions: Position[], anchors: readonly Anchor[]): Position[] => [
  ...positions,
  ...anchors
    .filter(({ rest }) => rest.length === 0)
    .map(({ field }) =>
      field === null ? rowPosition(rules) : enterKey(rules, rowPosition(rules), field),
    ),
];

/** Redacts a value at any depth. The recursion is safe, since the code that reads bodies limits their depth. */
const keep = (walk: Walk, value: unknown, around: Position[], anchors: Anchor[]): unknown => {
  const { rules } = walk;
  const positions = arriveAt(rules, around, anchors);
  const policy = policyAt(positions);
  if (policy?.mode === 'drop') return dropped;
  if (Array.isArray(value)) {
    const inside = positions.map(enterItem);
    return value.flatMap((item: unknown, index) => {
      const kept = keep(walk, item, inside, stepInto(anchors, String(index), true));
      return kept === dropped ? [] : [kept];
    });
  }
  if (typeof value === 'object' && value !== null) {
    const copy: Row = {};
    for (const [key, part] of Object.entries(value)) {
      const inside = positions.map((position) => enterKey(rules, position, key));
      const kept = keep(walk, part, inside, stepInto(anchors, key, false));
      if (kept !== dropped) putPart(copy, walk.secrets.scrub(key), kept);
    }
    return copy;
  }
  if (policy === undefined) return scrubScalar(walk, value);
  const redacted = redactKnown(walk, policy, value);
  return redacted === value ? scrubScalar(walk, value) : redacted;
};

/** Redacts a body. */
const keepBody = (walk: Walk, body: unknown, anchors: Anchor[]): unknown => {
  const kept = keep(walk, body, [rowPosition(walk.rules)], anchors);
  if (kept === dropped) return null;
  return walk.replaced.size === 0 ? kept : scrubAddresses(walk, kept);
};

/**
 * Returns the fields of rows that an argument corresponds to: by its name, by ingest, or by the filter of its route.
 */
const fieldsOf = (
  contract: Contract,
  operation: VendorOperation,
  argument: string,
): FieldPath[] => [
  [argument],
  ...operation.ingest.carryArgs
    .filter((one) => one.argument === argument)
    .map(({ field }) => [field]),
  ...(contract.api?.routes ?? [])
    .filter((route) => route.operation === operation.name)
    .flatMap(({ filter }) => filter)
    .filter((one) => one.argument === argument)
    .map(({ path }) => path),
];

/** Returns the policy for a value that corresponds to these fields. */
const policyOfFields = (rules: Rules, fields: readonly FieldPath[]): FieldPolicy | undefined =>
  policyAt(
    fields.map((path) =>
      path.reduce((at, segment) => enterKey(rules, at, segment), rowPosition(rules)),
    ),
  );

/** Returns the policy for the field that an argument corresponds to. */
export const argumentPolicy = (
  contract: Contract,
  operation: VendorOperation,
  argument: string,
): FieldPolicy | undefined =>
  contract.redact === null
    ? undefined
    : policyOfFields(rulesOf(contract.redact), fieldsOf(contract, operation, argument));

/**
 * Creates the redaction of one answer. Its headers and URL must be redacted last, when all replaced values are known.
 */
export const createAnswerRedaction = (contract: Contract, secrets: Secrets): AnswerRedaction => {
  const rules = rulesOf(contract.redact ?? noPolicy);
  const walk: Walk = { rules, secrets, replaced: new Map() };
  const keepArgument = (policy: FieldPolicy | undefined, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item: unknown) => keepArgument(policy, item));
    const redacted = policy === undefined ? value : redactKnown(walk, policy, value);
    return redacted === value ? scrubScalar(walk, value) : redacted;
  };
  return {
    arguments: (operation, given) =>
      Object.fromEntries(
        Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
          const policy = policyOfFields(rules, fieldsOf(contract, operation, name));
          return policy?.mode === 'drop' ? [] : [[name, keepArgument(policy, value)]];
        }),
      ),
    body: (operation, body) => keepBody(walk, body, anchorsOf(operation)),
    request: (body) => keepBody(walk, body, []),
    text: (text) => scrubText(walk, text),
  };
};
