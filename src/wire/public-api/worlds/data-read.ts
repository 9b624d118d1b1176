/** Operations that read the rows of worlds: counts, rows of an entity, and those of linked worlds beside them. */
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
        description: 'the entity whose rows are returned; absent: the counts of all entities',
      }),
    ),
    where: Type.Optional(
      Type.String({
        maxLength: 64 * 1024,
        description:
          'a JSON object of field, or path to one, to the value that it must have, or to a list of values of which any will do; null: the field is null or absent',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: '100 if absent' }),
    ),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    cursor: Type.Optional(
      Type.String({
        maxLength: 64,
        description: '`nextCursor` of the page before, in place of `offset`',
      }),
    ),
    resolve: Flag('values of `where` are plaintexts, which the redaction policy of the world maps'),
    across: Flag('also asks each linked world whose mappings carry the fields of `where`'),
    compare: Flag('with `across`: how the rows of linked worlds compare with those of this one'),
  },
  { additionalProperties: false },
);
export type RowsQuery = Static<typeof RowsQuery>;

const version = {
  slug: Type.String(),
  versionId: Type.String(),
  number: Type.Integer({ minimum: 1, description: 'of the version' }),
};

export const CountsView = Type.Object({
  ...version,
  entityCounts: Type.Record(Type.String(), Count),
});

const RowsMeta = Type.Object({
  limit: Type.Integer(),
  offset: Type.Integer(),
  totalItems: Type.Integer({ description: 'rows that match' }),
  totalItemsIsLowerBound: Type.Optional(
    Type.Literal(true, { description: 'true: there may be more; counting stopped here' }),
  ),
  nextOffset: nullable(
    Type.Integer({ description: '`offset` of the next page; null: there is none' }),
  ),
  nextCursor: Type.Optional(
    Type.String({ description: 'the same, for `cursor`: the rows before are not counted again' }),
  ),
});
export type RowsMeta = Static<typeof RowsMeta>;

const page = { data: Type.Array(JsonObject), meta: RowsMeta };

export const RowsView = Type.Object({ ...version, entity: Type.String(), ...page });

export const RowGroup = Type.Object({
  alias: nullable(
    Type.String({ description: 'alias of the link; null: the world of the request' }),
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
    { description: 'the first rows that differ' },
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
      { description: 'fields by which rows are matched; null: rows cannot be compared' },
    ),
  ),
  rows: Type.Object({ matched: Count, onlyHere: Count, onlyThere: Count }),
  fields: Type.Array(FieldParity),
});
export type ParityView = Static<typeof ParityView>;

export const GroupsView = Type.Object({
  ...version,
  entity: Type.String(),
  groups: Type.Array(RowGroup, { description: 'the world of the request first' }),
  skipped: Type.Array(
    Type.Object({ alias: Type.String(), slug: Type.String(), reason: Type.String() }),
    { description: 'linked worlds that were not asked' },
  ),
  compare: Type.Optional(Type.Array(ParityView)),
});
export type GroupsView = Static<typeof GroupsView>;

export const readData = getOperation({
  id: 'readData',
  summary: 'Counts of rows by entity, or rows of one entity, of linked worlds too',
  path: '/worlds/{slug}/data',
  access: 'read',
  tools: [{ name: 'query_world_data' }],
  params: WorldParams,
  query: RowsQuery,
  answer: Type.Union([RowsView, GroupsView, CountsView]),
  refusals: {
    429: 'Too many queries of the project wait.',
    524: 'The query took too long: ask by a field that has an index.',
  },
});
