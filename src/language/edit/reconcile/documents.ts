/**
 * Schemas of a world as written: `schema/world.json` and the sibling files to which it refers. They are values that can
 * be changed in place, and each subschema has its path. Validators get the same schemas in plain form.
 */
import { own } from '#domain/json.ts';
import type { JsonSchema } from '../../contract.ts';
import { worldFile } from '../../files/world-json.ts';
import { createPlace, createProblems } from '../../read/place.ts';
import type { Tree } from '../../read/tree.ts';
import { isTable } from '../../read/values.ts';
import { checkSchema } from '../../schema/check-schema.ts';
import { subschemasOf } from '../../schema/keywords.ts';

/** A schema as written, which may be changed in place. */
export type Node = Record<string, unknown>;

/** A node, with the file in which its references are resolved. */
export type Located = { file: string; node: unknown };

export type Path = (string | number)[];

export type Documents = {
  /** Whole value of each file, which can be written back. */
  values: ReadonlyMap<string, unknown>;
  /** Returns the row schema of an entity; its references are not followed. */
  entitySchema(entity: string): unknown;
  /** Resolves a reference that occurs in a file; undefined if it leads nowhere. */
  resolve(file: string, reference: unknown): Located | undefined;
  /**
   * Returns the present place of each schema. A later change of the values that contain a schema invalidates the
   * result.
   */
  places(): Map<Node, { file: string; path: Path }>;
  /** Returns how many schemas refer to a definition, which is given by file and name. */
  referenceCount(file: string, name: string): number;
  /** Returns the schema with its references changed so that they resolve in `definitions`. */
  plain(located: Located): JsonSchema;
  /** Returns the present definitions of all files. */
  definitions(): Record<string, JsonSchema>;
};

export const isNode = (schema: unknown): schema is Node => isTable(schema);

const splitReference = (
  file: string,
  reference: unknown,
): { file: string; name: string } | undefined => {
  const [, sibling, name] = /^([^#]*)#\/\$defs\/([^/]+)$/.exec(String(reference)) ?? [];
  if (name === undefined) return undefined;
  return { file: sibling === '' ? file : `schema/${sibling}`, name };
};

const contractName = (file: string, name: string): string =>
  file === worldFile ? name : `${file.slice('schema/'.length)}:${name}`;

const definitionsIn = (value: unknown): Node => {
  const held = isTable(value) ? own(value, '$defs') : undefined;
  return isTable(held) ? held : {};
};

const extensionIn = (value: unknown, part: 'entities' | 'tools'): Node => {
  const extension = isTable(value) ? own(value, 'x-svc') : undefined;
  const held = isTable(extension) ? own(extension, part) : undefined;
  return isTable(held) ? held : {};
};

/** Visits a schema and all subschemas inside it, but not the schemas to which it refers. */
const walk = (schema: unknown, path: Path, visit: (node: Node, path: Path) => void): void => {
  if (!isNode(schema)) return;
  visit(schema, path);
  for (const part of subschemasOf(schema)) walk(part.schema, [...path, ...part.path], visit);
};

/** Returns the root schemas in a file, with their paths. */
const rootsIn = (value: unknown): { schema: unknown; path: Path }[] => [
  ...Object.entries(definitionsIn(value)).map(([name, schema]) => ({
    schema,
    path: ['$defs', name],
  })),
  ...Object.entries(extensionIn(value, 'entities')).map(([name, entity]) => ({
    schema: isTable(entity) ? own(entity, 'schema') : undefined,
    path: ['x-svc', 'entities', name, 'schema'],
  })),
  ...Object.entries(extensionIn(value, 'tools')).flatMap(([name, tool]) =>
    ['input', 'output'].map((part) => ({
      schema: isTable(tool) ? own(tool, part) : undefined,
      path: ['x-svc', 'tools', name, part],
    })),
  ),
];

/** Opens the files whose schemas can apply to a row. The schemas must be valid. */
export const openDocuments = (tree: Tree): Documents => {
  const values = new Map<string, unknown>();
  const counts = new Map<string, number>();

  const open = (file: string): void => {
    if (values.has(file)) return;
    const value = tree.authoredJson(file)?.value;
    values.set(file, value);
    for (const { schema } of rootsIn(value)) {
      walk(schema, [], ({ $ref }) => {
        const target = $ref === undefined ? undefined : splitReference(file, $ref);
        if (target === undefined) return;
        const key = contractName(target.file, target.name);
        counts.set(key, (counts.get(key) ?? 0) + 1);
        open(target.file);
      });
    }
  };
  open(worldFile);

  const plain = ({ file, node }: Located): JsonSchema =>
    checkSchema(createPlace(createProblems(), file), node, {
      resolve(_place, reference) {
        const target = splitReference(file, reference);
        return target && `#/$defs/${contractName(target.file, target.name)}`;
      },
      acceptsPattern: () => true,
    });

  return {
    values,
    entitySchema(entity) {
      const held = own(extensionIn(values.get(worldFile), 'entities'), entity);
      return isTable(held) ? own(held, 'schema') : undefined;
    },
    resolve(file, reference) {
      const target = splitReference(file, reference);
      if (target === undefined) return undefined;
      const node = own(definitionsIn(values.get(target.file)), target.name);
      return node === undefined ? undefined : { file: target.file, node };
    },
    places() {
      const places = new Map<Node, { file: string; path: Path }>();
      for (const [file, value] of values) {
        for (const { schema, path } of rootsIn(value)) {
          walk(schema, path, (node, at) => places.set(node, { file, path: at }));
        }
      }
      return places;
    },
    referenceCount: (file, name) => counts.get(contractName(file, name)) ?? 0,
    plain,
    definitions: () =>
      Object.fromEntries(
        [...values].flatMap(([file, value]) =>
          Object.entries(definitionsIn(value)).map(([name, node]): [string, JsonSchema] => [
            contractName(file, name),
            plain({ file, node }),
          ]),
        ),
      ),
  };
};
