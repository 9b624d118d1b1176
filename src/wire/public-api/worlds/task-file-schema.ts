/**
 * The JSON Schema of a task in a file, for editors. It is what the API takes, and also says what conditions may be, which
 * the API refuses in words of its own.
 */
import { type Operator, operators } from '#language/comparison.ts';
import type { JsonSchema } from '#language/contract.ts';
import { dialect } from '#language/files/world-json.ts';
import { TaskSpec } from './task-spec.ts';

const scalar = { type: ['string', 'number', 'boolean', 'null'] };
const scalars = { type: 'array', items: scalar };
const ordered = { type: ['number', 'string'] };

const operands: Record<Operator, JsonSchema> = {
  eq: scalar,
  ne: { ...scalar, description: 'Also where the field is absent.' },
  in: scalars,
  lt: ordered,
  lte: ordered,
  gt: ordered,
  gte: ordered,
  contains: {
    type: ['string', 'number', 'boolean'],
    description: 'A part of a text, whatever the case of ASCII letters, or an item of a list.',
  },
  matches: { type: 'string', description: 'A regular expression of RE2, found anywhere.' },
  exists: { type: 'boolean', description: 'Null is as good as absent.' },
};

const condition: JsonSchema = {
  anyOf: [
    { ...scalar, description: 'This value.' },
    { ...scalars, description: 'One of these values.' },
    {
      type: 'object',
      properties: Object.fromEntries(operators.map((operator) => [operator, operands[operator]])),
      minProperties: 1,
      additionalProperties: false,
      description: 'All of these hold.',
    },
  ],
};

/** Every `where` of the schema, wherever it stands, with what it may say of a field; and scripts that are files. */
const asInFiles = (key: string, value: unknown): unknown => {
  if (key === 'script') {
    const file = { type: 'string', pattern: '\\.(py|ts)$', description: 'A file beside the task.' };
    return { anyOf: [file, value] };
  }
  if (key !== 'where') return value;
  const { patternProperties: _, ...rest } = value as JsonSchema;
  return { ...rest, additionalProperties: { $ref: '#/$defs/condition' } };
};

/** The JSON Schema (2020-12) of `--task-file`. */
export const taskFileSchema = (): JsonSchema => {
  const { properties, ...rest } = JSON.parse(JSON.stringify(TaskSpec, asInFiles));
  return {
    $schema: dialect,
    $id: 'urn:svc:task',
    title: 'A task of a world (--task-file)',
    ...rest,
    properties: { $schema: { type: 'string', description: 'For editors alone.' }, ...properties },
    $defs: { condition },
  };
};
