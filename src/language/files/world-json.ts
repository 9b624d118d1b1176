/**
 * Reads `schema/world.json`: the data model and the tools of a world. This file defines its members;
 * `check/entities.ts` and `check/tools.ts` check them against one another.
 */
import { languageLimits } from '../limits.ts';
import {
  anything,
  distinct,
  exactly,
  filledText,
  kind,
  listOf,
  mapOf,
  oneOf,
  type Placed,
  placed,
  text,
  textThat,
} from '../read/kinds.ts';
import { acceptEntityName, acceptToolName, refuseCaseTwins } from '../read/names.ts';
import type { Place } from '../read/place.ts';
import {
  defaulted,
  described,
  optional,
  readTable,
  required,
  requiredTable,
  type TableOf,
  tableOf,
} from '../read/table.ts';
import type { Tree } from '../read/tree.ts';
import { type Definitions, definitionTable } from '../schema/library.ts';

export const worldFile = 'schema/world.json';

export const dialect = 'https://json-schema.org/draft/2020-12/schema';

const absoluteUri = textThat(
  'an absolute URI without a fragment',
  (uri) => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri) && URL.canParse(uri) && !uri.includes('#'),
);

const fieldNames = distinct(listOf(text, { least: 1, most: languageLimits.fieldsPerKey }));

const relationshipKeys = {
  fields: described('Fields that refer to the target.', required(fieldNames, [])),
  target: described('Entity whose primary key the fields contain.', required(text, '')),
  on_delete: described(
    'Treatment of dependent rows: they must be deleted explicitly, in one transaction.',
    required(oneOf(['restrict']), 'restrict'),
  ),
};
export type RelationshipTable = TableOf<typeof relationshipKeys>;

/** A schema of any form; its keywords are checked when it is put into the library. */
const schemaValue = kind<Placed<unknown>>({ $ref: dialect }, placed(anything));

const entityKeys = {
  schema: described(
    'Schema of a row: a closed object, written out or as a $ref.',
    required<Placed<unknown> | undefined>(schemaValue, undefined),
  ),
  primary_key: described(
    'Top-level fields that identify a row: required strings or integers.',
    required(fieldNames, []),
  ),
  unique: described(
    'Unique constraints besides the primary key: lists of fields or JSON pointers whose values together must be unique.',
    defaulted<Placed<string[]>[]>(listOf(placed(fieldNames)), []),
  ),
  relationships: described(
    "References from the entity's rows to rows of other entities.",
    defaulted<Placed<RelationshipTable>[]>(listOf(placed(tableOf(relationshipKeys))), []),
  ),
};
export type EntityTable = TableOf<typeof entityKeys>;

const toolKeys = {
  input: described(
    'Schema of the arguments, an object.',
    required<Placed<unknown> | undefined>(schemaValue, undefined),
  ),
  output: described(
    'Schema of the result.',
    required<Placed<unknown> | undefined>(schemaValue, undefined),
  ),
  description: described(
    'Description of what the tool does, for the model that calls it.',
    optional(text),
  ),
};
export type ToolTable = TableOf<typeof toolKeys>;

const extensionKeys = {
  version: described('Version of this file format.', required(exactly(1), 1)),
  domain_version: described(
    'Version of the data model, in any notation.',
    required(filledText(256), ''),
  ),
  package: described(
    'Package under which the world is published.',
    requiredTable({
      id: described('Name of the package.', required(filledText(), '')),
      version: described('Version of the package.', required(filledText(), '')),
    }),
  ),
  entities: described(
    'Entities: the kinds of rows, by name.',
    required<Map<string, Placed<EntityTable>>>(
      mapOf(placed(tableOf(entityKeys)), { least: 1 }),
      new Map(),
    ),
  ),
  tools: described(
    'Signatures of tools, by name; {} for none.',
    required<Map<string, Placed<ToolTable>>>(mapOf(placed(tableOf(toolKeys))), new Map()),
  ),
};

export const worldFileKeys = {
  $schema: described('The dialect.', required(exactly(dialect), dialect)),
  $id: described('Absolute URI of the document; it is never fetched.', required(absoluteUri, '')),
  $comment: described('A note.', optional(text)),
  title: described('A note.', optional(text)),
  description: described('A note.', optional(text)),
  $defs: described(
    'Schemas to which other schemas refer as #/$defs/<Name>.',
    defaulted<Definitions>(definitionTable, new Map()),
  ),
  'x-svc': described('The world.', requiredTable(extensionKeys)),
};

export type WorldDeclaration = TableOf<typeof extensionKeys> & {
  place: Place;
  definitions: Definitions;
};

const acceptCount = (place: Place, what: string, count: number, most: number): void => {
  if (count > most) place.refuse('too_many', `there are ${count} ${what}, more than ${most}`);
};

const acceptNames = <Value>(
  place: Place,
  named: Map<string, Placed<Value>>,
  accept: (place: Place, name: string) => boolean,
): Map<string, Placed<Value>> =>
  new Map([...named].filter(([name]) => accept(place.at(name), name)));

/** Reads the document; undefined if it is missing or malformed, which is then reported. */
export const readWorldJson = (tree: Tree): WorldDeclaration | undefined => {
  if (!tree.has(worldFile)) {
    tree.place(worldFile).refuse('missing_file', `a world needs the file ${worldFile}`);
    return undefined;
  }
  const document = tree.authoredJson(worldFile);
  if (document === undefined) return undefined;
  const { $defs: definitions, 'x-svc': extension } = readTable(
    document.place,
    document.value,
    worldFileKeys,
  );
  const place = document.place.at('x-svc');
  const entitiesPlace = place.at('entities');
  const toolsPlace = place.at('tools');
  const entities = acceptNames(entitiesPlace, extension.entities, acceptEntityName);
  const tools = acceptNames(toolsPlace, extension.tools, acceptToolName);
  acceptCount(entitiesPlace, 'entities', entities.size, languageLimits.entities);
  acceptCount(toolsPlace, 'tools', tools.size, languageLimits.tools);
  refuseCaseTwins((name) => entitiesPlace.at(name), [...entities.keys()]);
  return { ...extension, entities, tools, definitions, place };
};
