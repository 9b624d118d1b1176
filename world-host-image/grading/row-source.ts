/** Type of the source that checks query: rows, or entries of the ledger. */
import type { Reader } from '#store/read/read.ts';

export type RowSource = Pick<Reader, 'query' | 'count'>;
