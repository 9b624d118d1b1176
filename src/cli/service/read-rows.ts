/**
 * Reads all rows of an entity of a version, page by page. The next page is fetched while the current one is processed.
 */
import type { Row } from '#language/contract.ts';
import type { Client } from '#wire/client.ts';
import { readData } from '#wire/public-api/operations.ts';
import type { RowsView } from '#wire/public-api/worlds/data-read.ts';
import type { VersionDetail } from '#wire/public-api/worlds/version.ts';
import type { Static } from '#wire/type.ts';

const pageRows = 1_000;

export type RowsAsked = {
  version: Pick<VersionDetail, 'slug' | 'id'>;
  entity: string;
  where?: Row | undefined;
  signal?: AbortSignal | undefined;
};

type Page = Static<typeof RowsView>;

/**
 * Yields pages of rows, in the order in which the rows were inserted. Versions are immutable, so the rows do not change
 * meanwhile.
 */
export async function* readPages(
  client: Client,
  { version, entity, where, signal }: RowsAsked,
): AsyncGenerator<Row[]> {
  const params = { slug: `${version.slug}@${version.id}` };
  const ask = async (cursor: string | undefined): Promise<Page> => {
    const query = {
      entity,
      limit: pageRows,
      ...(cursor === undefined ? {} : { cursor }),
      ...(where === undefined ? {} : { where: JSON.stringify(where) }),
    };
    const more = signal === undefined ? {} : { signal };
    return (await client.send(readData, { params, query, ...more })).body as Page;
  };
  let next: Promise<Page> | undefined = ask(undefined);
  while (next !== undefined) {
    const { data, meta }: Page = await next;
    next = meta.nextCursor === undefined ? undefined : ask(meta.nextCursor);
    next?.catch(() => undefined); // thrown when this page is awaited
    yield data as Row[];
  }
}
