/** Lists that tests walk page by page: how each is opened, and how entries are added and removed. */
import { basicAuthorization } from '#wire/client.ts';
import type { OperationShape } from '#wire/operation.ts';
import type * as api from '#wire/public-api/operations.ts';
import { createAsker } from '../client.ts';
import type { OwnControl } from '../own-control.ts';

export type Row = Record<string, unknown> & { id: string };

export type Answered = {
  id: string;
  data: Row[];
  meta: { nextCursor?: string; cursor?: string; next?: number | null };
  nextCursor?: string | null;
} & Record<string, unknown>;

export type Ask = (method: string, path: string, body?: object) => Promise<Answered>;

export type Stage = {
  control: OwnControl;
  /** Sends a request with the keys of the project; throws when it is refused. */
  ask: Ask;
  /** Sends a request with the keys of the organization. */
  account: Ask;
};

/** A list, with the functions that add and remove its entries. */
export type Listed = {
  /** Creates the list's container; returns the list's address. */
  open(name: string): Promise<string>;
  /** Adds an entry by a number that was not used before; returns its identifier. */
  add(list: string, number: number): Promise<string>;
  /** Removes an entry; absent if entries of this list are never removed. */
  remove?(list: string, id: string): Promise<unknown>;
  /** Returns the identifier of a row; if absent, the row's `id` is the identifier. */
  idOf?(row: Row): string;
  /** Returns the rows of an answer that has them elsewhere than in `data`. */
  rowsOf?(answer: Answered): Row[];
  /** Number of the first page, if it is not 1. */
  firstPage?: 0;
  /** True if the list is requested with the keys of the organization. */
  isAccount?: true;
  /** Number of walks in place of the usual one, for a list whose rows are expensive. */
  walks?: number;
};

/** Lists by the ids of their operations. */
export type Lists = Readonly<
  Partial<
    Record<
      {
        [Key in keyof typeof api]: (typeof api)[Key] extends OperationShape
          ? (typeof api)[Key]['id']
          : never;
      }[keyof typeof api],
      Listed
    >
  >
>;

const askAs =
  (control: OwnControl, as: string): Ask =>
  async (method, path, body) => {
    const parts = { as, ...(body === undefined ? {} : { body }) };
    const answer = await createAsker(control)(method, path, parts);
    if (answer.status > 207) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as Answered;
  };

export const stageOf = (control: OwnControl): Stage => ({
  control,
  ask: askAs(control, basicAuthorization(control.publicKey, control.secretKey)),
  account: askAs(control, control.accountAuthorization),
});

/** Returns a query parameter of an address. */
export const query = (path: string, name: string): string =>
  new URL(path, 'http://x').searchParams.get(name) ?? '';

/** Returns the address with further query parameters. */
export const withQuery = (list: string, more: Record<string, string>): string =>
  `${list}${list.includes('?') ? '&' : '?'}${new URLSearchParams(more)}`;

/** Returns a time that several numbers share, so that lists by time must distinguish them otherwise. */
export const sharedTime = (number: number): string =>
  new Date(Date.UTC(2026, 0, 1) + ((number * 7_919) % 5) * 1_000).toISOString();
