/** Operations that read the rows of worlds: counts, rows of an entity, and the corresponding rows of linked worlds. */
import { limits } from '#domain/limits.ts';
import { getOperation } from '../../operation.ts';
import { JsonObject, nullable } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { WorldParams } from './version.ts';

const Count = Type.Integer({ minimum: 0 });
const Flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const RowsQuery = Type.Object(
  {
    entity: Type.Optional(
      Type.String({
        maxLength: limits.nameChars,
        description:
          'the entity whose rows are returned; if absent, the counts of all entities are returned',
      }),
    ),
    where: Type.Optional(
      Type.String({
        maxLength: 64 * 1024,
        description:
          'a JSON object of conditions: the key is a field or a path to one, the value is what the field must be, or a list of values one of which it must be; null: the field is null or absent',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: 'maximum number of rows; default 100',
      }),
    ),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    cursor: Type.Optional(
      Type.String({
        maxLength: 64,
        description: '`nextCursor` of the previous page, in place of `offset`',
      }),
    ),
    resolve: Flag(
      "whether the values of `where` are plaintexts, to which the world's redaction policy is applied before the search",
    ),
    across: Flag(
      'whether to search linked worlds, too, if their mappings include the fields of `where`',
    ),
    compare: Flag(
      'with `across`: whether to compare the rows of linked worlds with those of this world',
    ),
  },
  { additionalProperties: false },
);
export type RowsQuery = Static<typeof RowsQuery>;

const version = {
  slug: Type.String(),
  versionId: Type.String(),
  number: Type.Integer({ minimum: 1, description: 'number of the version' }),
};

export const CountsView = Type.Object({
  ...version,
  entityCounts: Type.Record(Type.String(), Count),
});

const RowsMeta = Type.Object({
  limit: Type.Integer(),
  offset: Type.Integer(),
  totalItems: Type.Integer({ description: 'number of rows that match' }),
  totalItemsIsLowerBound: Type.Optional(
    Type.Literal(true, {
      description: 'true: more rows may match; counting stopped at this number',
    }),
  ),
  nextOffset: nullable(
    Type.Integer({ description: '`offset` of the next page; null: there is no further page' }),
  ),
  nextCursor: Type.Optional(
    Type.String({
      description: '`cursor` of the next page; with it, the earlier rows need not be counted again',
    }),
  ),
});
export type RowsMeta = Static<typeof RowsMeta>;

const page = { data: Type.Array(JsonObject), meta: RowsMeta };

export const RowsView = Type.Object({ ...version, entity: Type.String(), ...page });

export const RowGroup = Type.Object({
  alias: nullable(
    Type.String({
      description: 'alias of the linked world; null: the world of the request itself',
    }),
  ),
  ...version,
  entity: Type.String(),
  where: JsonObject,
  ...page,
});
export type RowGroup = Static<typeof RowGroup>;

const tally = nullable(Count);

const FieldParity = Type.Object({
  field: Type.String(),
  targetField: Type.String(),
  equal: tally,
  onlyHere: tally,
  onlyThere: tally,
  differing: tally,
  examples: Type.Array(
    Type.Object({ key: Type.Unknown(), here: Type.Unknown(), there: Type.Unknown() }),
    { description: 'the first rows whose values differ' },
  ),
  reason: Type.Optional(Type.String({ description: 'why the field cannot be compared' })),
});

export const ParityView = Type.Object({
  alias: Type.String(),
  slug: Type.String(),
  number: Type.Integer({ minimum: 1 }),
  entity: Type.String(),
  targetEntity: Type.String(),
  key: nullable(
    Type.Object(
      { field: Type.String(), targetField: Type.String() },
      { description: 'fields by which rows are matched; null: the rows cannot be compared' },
    ),
  ),
  rows: Type.Object({ matched: Count, onlyHere: Count, onlyThere: Count }),
  fields: Type.Array(FieldParity),
});
export type ParityView = Static<typeof ParityView>;

export const GroupsView = Type.Object({
  ...version,
  entity: Type.String(),
  groups: Type.Array(RowGroup, { description: 'results by world, that of the request first' }),
  skipped: Type.Array(
    Type.Object({ alias: Type.String(), slug: Type.String(), reason: Type.String() }),
    { description: 'linked worlds that were not searched' },
  ),
  compare: Type.Optional(Type.Array(ParityView)),
});
export type GroupsView = Static<typeof GroupsView>;

export const readData = getOperation({
  id: 'readData',
  summary: 'Counts of rows by entity, or the rows of one entity, also in linked worlds',
  path: '/worlds/{slug}/data',
  access: 'read',
  tools: [{ name: 'query_world_data' }],
  params: WorldParams,
  query: RowsQuery,
  answer: Type.Union([RowsView, GroupsView, CountsView]),
  refusals: {
    429: 'Too many queries of the project are waiting.',
    524: 'The query took too long: filter by a field that has an index.',
  },
});
