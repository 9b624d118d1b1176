/**
 * Pages of rows with input, output and metadata, which may be large: they are shown as far as a page has room, in its
 * order, and the rows beyond that say that they are cut. The first row is always whole. What most rows have is null in
 * what is read, and known where it is shown: of thousands of rows each value takes time to be written and read.
 */
import { utcText } from './times.ts';

const sizes =
  'coalesce(octet_length(input), 0) + coalesce(octet_length(output), 0) + coalesce(octet_length(metadata), 0)';

const cut = `case when fits then input end as input, case when fits then output end as output,
          case when fits then metadata end as metadata, nullif(not fits, false) as "isCut"`;

/** Selects `plain` of the rows of `paged` in the order of their `place`, with what is heavy up to `bytes`. */
export const withHeavy = (plain: string, bytes: number): string =>
  `select ${plain}, ${cut}
     from (select paged.*, place = 1 or sum(${sizes}) over (order by place) <= ${bytes} as fits
             from paged) sized
    order by place`;

/** The same without what is heavy. */
export const withoutHeavy = (plain: string): string =>
  `select ${plain}, null as input, null as output, null as metadata, null::boolean as "isCut"
     from paged order by place`;

/** Selects `plain` of the first `most` rows of `from` in the order of columns, with what is heavy up to `bytes`, in one pass. */
export const wholeWithHeavy = (
  plain: string,
  { from, order, most, bytes }: { from: string; order: string; most: number; bytes: number },
): string =>
  `select ${plain}, ${cut}
     from (select *, row_number() over sized = 1 or sum(${sizes}) over sized <= ${bytes} as fits
             from ${from} window sized as (order by ${order} rows unbounded preceding)
            order by ${order} limit ${most}) listed
    order by ${order}`;

/** Of a row, when it was written last; null where that is when it was made. */
export const updatedText = `case when updated_at <> created_at then ${utcText('updated_at')} end`;
