/**
 * Builds queries for pages of rows whose input, output and metadata may be large. In the order of the page, these
 * columns are included until a byte limit is reached; `isCut` is set in the rows after that. The first row is always
 * complete. Values that are the same in most rows are read as null, and the caller fills them in, because encoding and
 * decoding them for thousands of rows would take time.
 */
import { utcText } from './times.ts';

const sizes =
  'coalesce(octet_length(input), 0) + coalesce(octet_length(output), 0) + coalesce(octet_length(metadata), 0)';

const cut = `case when fits then input end as input, case when fits then output end as output,
          case when fits then metadata end as metadata, nullif(not fits, false) as "isCut"`;

/**
 * Builds a query for the columns `plain` and the large columns of the rows in `paged`, in the order of `place`. The
 * large columns are included up to `bytes` bytes.
 */
export const withHeavy = (plain: string, bytes: number): string =>
  `select ${plain}, ${cut}
     from (select paged.*, place = 1 or sum(${sizes}) over (order by place) <= ${bytes} as fits
             from paged) sized
    order by place`;

/** Builds the query of `withHeavy` without the large columns. */
export const withoutHeavy = (plain: string): string =>
  `select ${plain}, null as input, null as output, null as metadata, null::boolean as "isCut"
     from paged order by place`;

/**
 * Builds a query that reads, in one pass, the columns `plain` and the large columns of the first `most` rows of `from`.
 * The large columns are included up to `bytes` bytes.
 */
export const wholeWithHeavy = (
  plain: string,
  { from, order, most, bytes }: { from: string; order: string; most: number; bytes: number },
): string =>
  `select ${plain}, ${cut}
     from (select *, row_number() over sized = 1 or sum(${sizes}) over sized <= ${bytes} as fits
             from ${from} window sized as (order by ${order} rows unbounded preceding)
            order by ${order} limit ${most}) listed
    order by ${order}`;

/** SQL for the time of a row's last update; null if the row has not been updated since its creation. */
export const updatedText = `case when updated_at <> created_at then ${utcText('updated_at')} end`;
