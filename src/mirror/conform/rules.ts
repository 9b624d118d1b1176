/** Derives from the contract the rules by which each operation's answers are compared. */
import type { Contract, RouteContract, VendorOperation } from '#language/contract.ts';
import type { Rules } from './compare.ts';

type Mirror = Pick<Contract, 'entities' | 'api' | 'vendor'>;

/**
 * Returns the fields that an entity's rows have in addition to the vendor's because some operation fills them at
 * ingest.
 */
const carriedInto = ({ vendor }: Mirror, entity: string | null): Set<string> =>
  new Set(
    (vendor?.operations ?? []).flatMap(({ entity: of, ingest }) => [
      ...(of === entity ? ingest.carryArgs.map(({ field }) => field) : []),
      ...ingest.explode
        .filter((one) => one.entity === entity)
        .flatMap(({ carry }) => carry.map(({ field }) => field)),
    ]),
  );

const cursorHeadersOf = ({ api, vendor }: Mirror): Set<string> => {
  const { cursor, previous } = api?.paging.headers ?? {};
  const from = vendor?.capture.cursor?.from;
  const names = [
    cursor,
    previous,
    from !== undefined && 'header' in from ? from.header : undefined,
  ];
  return new Set(names.flatMap((name) => (name === undefined ? [] : [name.toLowerCase()])));
};

/** Returns the comparison rules that all requests of an operation share. Further rules depend on the captures. */
export const rulesOf = (
  mirror: Mirror,
  operation: VendorOperation,
  route: RouteContract,
): Omit<Rules, 'isComplete' | 'bases' | 'path'> => {
  const { api, vendor } = mirror;
  const { entity, ingest, results } = operation;
  const from = vendor?.capture.cursor?.from;
  const hitsKey = api?.paging.hitsKey ?? '';
  return {
    rows: entity === null ? null : results,
    key: mirror.entities.find(({ name }) => name === entity)?.primaryKey ?? [],
    leftOut: new Set([
      ...ingest.drop,
      ...ingest.explode.flatMap(({ field }) => (field.length === 1 ? field : [])),
    ]),
    carried: carriedInto(mirror, entity),
    cursor: from !== undefined && 'field' in from ? from.field : null,
    cursorHeaders: cursorHeadersOf(mirror),
    totalHeader: api?.paging.headers.total?.toLowerCase() ?? null,
    totalKey: hitsKey === '' ? null : hitsKey,
    withValues: route.method === 'GET',
  };
};
