/** Generates bodies with an odd value in place of each field: absent, null, another type, too large, or malicious. */
import type { OperationShape } from '#wire/operation.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A body with one odd field. */
export type FieldCase = {
  /** Names on the path to the field. */
  path: string[];
  oddity: string;
  /** The whole body, as it is sent. */
  text: string;
};

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const many = (item: string, count: number): string =>
  `[${Array.from({ length: count }, () => item).join()}]`;

const values: readonly (readonly [oddity: string, json: string])[] = [
  ['null', 'null'],
  ['true', 'true'],
  ['zero', '0'],
  ['negative', '-1'],
  ['a fraction', '1.5'],
  ['beyond what is exact', '9007199254740993'],
  ['infinite', '1e400'],
  ['infinite below', '-1e400'],
  ['no number', '"NaN"'],
  ['an empty text', '""'],
  ['blank', '" "'],
  ['a zero byte', '"a\\u0000b"'],
  ['half a character', '"a\\ud800b"'],
  ['a long text', `"${'x'.repeat(70_000)}"`],
  ['an object', '{}'],
  ['a list', '[]'],
  ['a list in a list', '[[]]'],
  ['a list with null', '[null]'],
  ['a long list', many('"x"', 12_000)],
  ['deep', nested(150)],
  ['too deep', nested(400)],
  ['a prototype', '{"__proto__":{"polluted":1}}'],
  ['a constructor', '{"constructor":{"prototype":{"polluted":1}}}'],
];

/** Returns the members of a schema, including those of the branches of a union and of the items of a list. */
const membersOf = (schema: Schema | undefined): Record<string, Schema> => {
  if (schema === undefined) return {};
  const { properties, anyOf, items } = schema as {
    properties?: Record<string, Schema>;
    anyOf?: Schema[];
    items?: Schema;
  };
  const inside = [...(anyOf ?? []), ...(items === undefined ? [] : [items])];
  return Object.assign({}, ...inside.map(membersOf), properties ?? {}) as Record<string, Schema>;
};

const isList = ({ type, anyOf = [] }: Schema): boolean =>
  type === 'array' || (anyOf as Schema[]).some(({ type: own }) => own === 'array');

type Members = Record<string, unknown>;

/** Placeholder for the value until the text is written; no body contains it by chance. */
const mark = 'the value that is put here';

/**
 * Returns the body with the placeholder in a field, or without the field. A nested field is placed into the existing
 * value of its parent.
 */
const put = (base: Members, [name = '', below]: string[], schema: Schema, isAbsent: boolean) => {
  const body = structuredClone(base);
  const holder = (): Members => {
    if (below === undefined) return body;
    const given = body[name];
    const first = Array.isArray(given) ? given[0] : given;
    const made = (typeof first === 'object' && first !== null ? first : {}) as Members;
    body[name] = isList(membersOf(schema)[name] ?? {}) ? [made] : made;
    return made;
  };
  const last = below ?? name;
  const target = holder();
  if (isAbsent) delete target[last];
  else target[last] = mark;
  return JSON.stringify(body);
};

/** Returns all cases for an operation, from a valid body. `more` names members that its schema leaves free. */
export const fieldCasesOf = (
  { body }: OperationShape,
  base: object,
  more: readonly string[] = [],
): FieldCase[] => {
  const schema = body as unknown as Schema;
  const names = [...Object.keys(membersOf(schema)), ...more];
  const paths = names.flatMap((name) => [
    [name],
    ...Object.keys(membersOf(membersOf(schema)[name])).map((below) => [name, below]),
  ]);
  return paths.flatMap((path) => {
    const marked = put(base as Members, path, schema, false);
    const absent = put(base as Members, path, schema, true);
    return [
      { path, oddity: 'absent', text: absent },
      ...values.map(([oddity, json]) => ({
        path,
        oddity,
        text: marked.replace(JSON.stringify(mark), () => json),
      })),
    ];
  });
};
