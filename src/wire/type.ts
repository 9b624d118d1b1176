/**
 * Builds the schemas of contracts. The types are typebox's; at run time a schema is a plain JSON Schema object, which
 * these few functions build. Loading the typebox package itself would add a tenth of a second to the start of each
 * program. That is too much for a world host that a session waits for, and for a command of the CLI.
 * `type.test.ts` compares the functions with what typebox builds from the same arguments.
 */
import type TypeBox from 'typebox';

export type { Static, TSchema } from 'typebox';

type Schema = Record<string, unknown>;

/** Name of the property by which typebox's types mark optional properties; it is not serialised. */
const optionalMark = '~optional';

const isOptional = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && optionalMark in schema;

const object = (properties: Record<string, Schema>, options: Schema = {}): Schema => {
  const required = Object.keys(properties).filter((name) => !isOptional(properties[name]));
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties,
    ...options,
  };
};

const optional = (schema: Schema): Schema =>
  Object.defineProperty({ ...schema }, optionalMark, { value: true });

/** Builds the schema of an object that has the properties of other objects and some of its own. */
const inherit = (from: Schema[], properties: Record<string, Schema>, options?: Schema): Schema =>
  object(Object.assign({}, ...from.map((schema) => schema.properties), properties), options);

const builders = {
  Array: (items: Schema, options: Schema = {}): Schema => ({ type: 'array', items, ...options }),
  Boolean: (options: Schema = {}): Schema => ({ type: 'boolean', ...options }),
  Integer: (options: Schema = {}): Schema => ({ type: 'integer', ...options }),
  Interface: inherit,
  IsOptional: isOptional,
  Literal: (value: string | number | boolean, options: Schema = {}): Schema => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Null: (options: Schema = {}): Schema => ({ type: 'null', ...options }),
  Number: (options: Schema = {}): Schema => ({ type: 'number', ...options }),
  Object: object,
  Optional: optional,
  /** Builds the schema of a record; the keys of this project's records may be any text. */
  Record: (_key: Schema, value: Schema, options: Schema = {}): Schema => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: (options: Schema = {}): Schema => ({ type: 'string', ...options }),
  Union: (anyOf: Schema[], options: Schema = {}): Schema => ({ anyOf, ...options }),
  Unknown: (options: Schema = {}): Schema => ({ ...options }),
  Unsafe: (schema: Schema): Schema => ({ ...schema }),
};

export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
