/**
 * Builds the JSON Schema of a task file, for editors. It extends the API's schema of a task by the form of conditions,
 * which the API checks in code for better error messages.
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
  ne: {
    ...scalar,
    description:
      'The field must not have this value. The condition also holds if the field is absent.',
  },
  in: scalars,
  lt: ordered,
  lte: ordered,
  gt: ordered,
  gte: ordered,
  contains: {
    type: ['string', 'number', 'boolean'],
    description: 'A substring, ignoring the case of ASCII letters, or an item of a list.',
  },
  matches: {
    type: 'string',
    description: 'A regular expression (RE2), which is searched for anywhere in the text.',
  },
  exists: { type: 'boolean', description: 'Null is treated like an absent field.' },
};

const condition: JsonSchema = {
  anyOf: [
    { ...scalar, description: 'The field must have this value.' },
    { ...scalars, description: 'The field must have one of these values.' },
    {
      type: 'object',
      properties: Object.fromEntries(operators.map((operator) => [operator, operands[operator]])),
      minProperties: 1,
      additionalProperties: false,
      description: 'All of these conditions must hold.',
    },
  ],
};

/** Extends each `where` of the schema by the form of conditions, and allows a script to be the path of a file. */
const asInFiles = (key: string, value: unknown): unknown => {
  if (key === 'script') {
    const file = {
      type: 'string',
      pattern: '\\.(py|ts)$',
      description: 'Path of a file, relative to the task file.',
    };
    return { anyOf: [file, value] };
  }
  if (key !== 'where') return value;
  const { patternProperties: _, ...rest } = value as JsonSchema;
  return { ...rest, additionalProperties: { $ref: '#/$defs/condition' } };
};

/** Returns the JSON Schema (2020-12) of `--task-file`. */
export const taskFileSchema = (): JsonSchema => {
  const { properties, ...rest } = JSON.parse(JSON.stringify(TaskSpec, asInFiles));
  return {
    $schema: dialect,
    $id: 'urn:svc:task',
    title: 'A task of a world (--task-file)',
    ...rest,
    properties: {
      $schema: { type: 'string', description: 'Used by editors only.' },
      ...properties,
    },
    $defs: { condition },
  };
};
