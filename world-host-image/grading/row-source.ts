/** Type of the source that checks query: the rows of a world, or the entries of the ledger. */
import type { Reader } from '#store/read/read.ts';

export type RowSource = Pick<Reader, 'query' | 'count'>;
