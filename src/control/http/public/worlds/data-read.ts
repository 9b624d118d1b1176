/** Endpoint that reads the rows of worlds. Rows are sent as they were stored, and never parsed on the way. */
import type { FoundRows } from '#data/query/plan.ts';
import * as api from '#wire/public-api/operations.ts';
import type {
  GroupsView,
  ParityView,
  RowGroup,
  RowsMeta,
} from '#wire/public-api/worlds/data-read.ts';
import { JsonText } from '../../../base/json/json-text.ts';
import type { Parts } from '../../../parts.ts';
import type { Version } from '../../../worlds/caches/versions.ts';
import { checkTogether, type ReadRows, readRows } from '../../../worlds/data/read.ts';
import { writeCursor } from '../../../worlds/data/row-cursor.ts';
import { resolveAddress } from '../../../worlds/versions/address.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

const viewPage = (
  { rowsJson, total, isLowerBound, nextOffset, nextAfter }: FoundRows,
  { limit, offset }: Pick<ReadRows, 'limit' | 'offset'>,
  hasCursor: boolean,
): { data: RowGroup['data']; meta: RowsMeta } => ({
  data: new JsonText(rowsJson) as unknown as RowGroup['data'],
  meta: {
    limit,
    offset,
    totalItems: total,
    ...(isLowerBound ? { totalItemsIsLowerBound: true as const } : {}),
    nextOffset,
    ...(hasCursor && nextOffset !== null && nextAfter !== null
      ? { nextCursor: writeCursor({ after: nextAfter, offset: nextOffset }) }
      : {}),
  },
});

const viewVersion = ({ slug, id, number }: Version) => ({ slug, versionId: id, number });

const slugOf = (version: Version, alias: string): string =>
  version.contract.dependencies.find((dependency) => dependency.alias === alias)?.slug ?? '';

const viewGroups = (version: Version, entity: string, read: ReadRows): GroupsView => {
  const { outcome, links, where } = read;
  const root: RowGroup = {
    alias: null,
    ...viewVersion(version),
    entity,
    where,
    ...viewPage(outcome.root, read, false),
  };
  const skipped = read.skipped.map(({ alias, reason }) => ({
    alias,
    slug: slugOf(version, alias),
    reason,
  }));
  const groups = links.flatMap(({ link, version: linked }, at): RowGroup[] => {
    const found = outcome.links[at];
    const { alias, entity: target } = link;
    if (found?.kind === 'found') {
      const page = viewPage(found, read, false);
      return [{ alias, ...viewVersion(linked), entity: target, where: link.where, ...page }];
    }
    skipped.push({ alias, slug: linked.slug, reason: found?.detail ?? '' });
    return [];
  });
  return { ...viewVersion(version), entity, groups: [root, ...groups], skipped };
};

const viewParities = (entity: string, { outcome, links }: ReadRows): ParityView[] =>
  outcome.parities.flatMap((parity, at): ParityView[] => {
    const asked = links[at];
    if (parity === null || asked === undefined) return [];
    const { alias, entity: targetEntity } = asked.link;
    const { slug, number } = asked.version;
    return [{ alias, slug, number, entity, targetEntity, ...parity }];
  });

export const dataReadEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.readData, async ({ params, query }, { caller: { projectId }, signal }) => {
    checkTogether(query);
    const { version } = await resolveAddress(parts, projectId, params.slug);
    const { entity } = query;
    if (entity === undefined) {
      return respond(200, { ...viewVersion(version), entityCounts: version.entityCounts });
    }
    const read = await readRows(parts, version, entity, query, { project: projectId, signal });
    if (query.across !== true) {
      return respond(200, {
        ...viewVersion(version),
        entity,
        ...viewPage(read.outcome.root, read, true),
      });
    }
    const groups = viewGroups(version, entity, read);
    return respond(
      200,
      query.compare === true ? { ...groups, compare: viewParities(entity, read) } : groups,
    );
  }),
];
