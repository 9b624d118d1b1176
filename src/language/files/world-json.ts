/**
 * `schema/world.json`: the data model and the tools of a world. This file says which members it has;
 * what they must be to one another is checked in `check/entities.ts` and `check/tools.ts`.
 */
import { languageLimits } from '../limits.ts';
import {
  anything,
  distinct,
  exactly,
  filledText,
  type Kind,
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

const dialect = 'https://json-schema.org/draft/2020-12/schema';

const absoluteUri = textThat(
  'an absolute URI without a fragment',
  (uri) => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri) && URL.canParse(uri) && !uri.includes('#'),
);

const fieldNames = distinct(listOf(text, { least: 1 }));

const relationshipKeys = {
  fields: required(fieldNames, []),
  target: required(text, ''),
  on_delete: required(oneOf(['restrict']), 'restrict'),
};

const schemaValue: Kind<Placed<unknown>> = placed(anything);

const entityKeys = {
  schema: required<Placed<unknown> | undefined>(schemaValue, undefined),
  primary_key: required(fieldNames, []),
  unique: defaulted<Placed<string[]>[]>(listOf(placed(fieldNames)), []),
  relationships: defaulted<Placed<RelationshipTable>[]>(
    listOf(placed(tableOf(relationshipKeys))),
    [],
  ),
};

const toolKeys = {
  input: required<Placed<unknown> | undefined>(schemaValue, undefined),
  output: required<Placed<unknown> | undefined>(schemaValue, undefined),
  description: optional(text),
};

export type RelationshipTable = TableOf<typeof relationshipKeys>;
export type EntityTable = TableOf<typeof entityKeys>;
export type ToolTable = TableOf<typeof toolKeys>;

const extensionKeys = {
  version: required(exactly(1), 1),
  domain_version: required(filledText(256), ''),
  package: requiredTable({
    id: required(filledText(), ''),
    version: required(filledText(), ''),
  }),
  entities: required<Map<string, Placed<EntityTable>>>(
    mapOf(placed(tableOf(entityKeys)), { least: 1 }),
    new Map(),
  ),
  tools: required<Map<string, Placed<ToolTable>>>(mapOf(placed(tableOf(toolKeys))), new Map()),
};

const documentKeys = {
  $schema: required(exactly(dialect), dialect),
  $id: required(absoluteUri, ''),
  $comment: optional(text),
  title: optional(text),
  description: optional(text),
  $defs: defaulted<Definitions>(definitionTable, new Map()),
  'x-svc': requiredTable(extensionKeys),
};

export type WorldDeclaration = TableOf<typeof extensionKeys> & {
  place: Place;
  definitions: Definitions;
};

const acceptCount = (place: Place, count: number, most: number): void => {
  if (count > most) place.refuse('too_many', `there are ${count}, more than ${most}`);
};

const acceptNames = <Value>(
  place: Place,
  named: Map<string, Placed<Value>>,
  accept: (place: Place, name: string) => boolean,
): Map<string, Placed<Value>> =>
  new Map([...named].filter(([name]) => accept(place.at(name), name)));

/** Reads the document; undefined when it is missing or broken, which is noted. */
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
    documentKeys,
  );
  const place = document.place.at('x-svc');
  const entitiesPlace = place.at('entities');
  const toolsPlace = place.at('tools');
  const entities = acceptNames(entitiesPlace, extension.entities, acceptEntityName);
  const tools = acceptNames(toolsPlace, extension.tools, acceptToolName);
  acceptCount(entitiesPlace, entities.size, languageLimits.entities);
  acceptCount(toolsPlace, tools.size, languageLimits.tools);
  refuseCaseTwins((name) => entitiesPlace.at(name), [...entities.keys()]);
  return { ...extension, entities, tools, definitions, place };
};
