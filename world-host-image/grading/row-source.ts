/** Rows, or entries of the ledger, as checks ask for them. */
import type { Reader } from '#store/read/read.ts';

export type RowSource = Pick<Reader, 'query' | 'count'>;
