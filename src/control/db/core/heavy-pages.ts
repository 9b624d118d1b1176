/**
 * Selects pages of rows whose input, output and metadata may be large. In page order, these columns are included up to
 * a byte limit; later rows have `isCut`. The first row is always complete. Values that most rows share are read as
 * null and filled in by the caller. Over thousands of rows, encoding and decoding each value would take time.
 */
import { utcText } from './times.ts';

const sizes =
  'coalesce(octet_length(input), 0) + coalesce(octet_length(output), 0) + coalesce(octet_length(metadata), 0)';

const cut = `case when fits then input end as input, case when fits then output end as output,
          case when fits then metadata end as metadata, nullif(not fits, false) as "isCut"`;

/**
 * Builds a query for the columns `plain` of the rows of `paged`, in the order of their `place`, with the large columns
 * up to `bytes`.
 */
export const withHeavy = (plain: string, bytes: number): string =>
  `select ${plain}, ${cut}
     from (select paged.*, place = 1 or sum(${sizes}) over (order by place) <= ${bytes} as fits
             from paged) sized
    order by place`;

/** Builds the same query without the large columns. */
export const withoutHeavy = (plain: string): string =>
  `select ${plain}, null as input, null as output, null as metadata, null::boolean as "isCut"
     from paged order by place`;

/**
 * Builds a one-pass query for the columns `plain` of the first `most` rows of `from`, with the large columns up to
 * `bytes`.
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

/** SQL of the time of a row's last update; null if that is the time of its creation. */
export const updatedText = `case when updated_at <> created_at then ${utcText('updated_at')} end`;
