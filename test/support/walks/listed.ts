/** Lists that tests walk through, page by page: what is in them, and how it comes and goes. */
import { basicAuthorization } from '#wire/client.ts';
import type { OperationShape } from '#wire/operation.ts';
import type * as api from '#wire/public-api/operations.ts';
import { createAsker } from '../asker.ts';
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
  /** By the keys of the project; throws what is refused. */
  ask: Ask;
  /** By the keys of the organization. */
  account: Ask;
};

/** A list, and how something comes into it and goes from it. */
export type Listed = {
  /** Makes what the list is in; answers the list's address. */
  open(name: string): Promise<string>;
  /** Puts something in, by a number that none had before; answers what tells it from others. */
  add(list: string, number: number): Promise<string>;
  /** Takes something out; absent: nothing ever goes. */
  remove?(list: string, id: string): Promise<unknown>;
  /** What tells a row from others; absent: its `id`. */
  idOf?(row: Row): string;
  /** The rows of an answer that has them elsewhere than in `data`. */
  rowsOf?(answer: Answered): Row[];
  /** The number of the first page, where it is not 1. */
  firstPage?: 0;
  /** Whether the keys of the organization ask. */
  isAccount?: true;
  /** What a list of a few rows costs too much for: so many walks in place of the usual number. */
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

/** What an address asks by. */
export const query = (path: string, name: string): string =>
  new URL(path, 'http://x').searchParams.get(name) ?? '';

/** The address with more asked. */
export const withQuery = (list: string, more: Record<string, string>): string =>
  `${list}${list.includes('?') ? '&' : '?'}${new URLSearchParams(more)}`;

/** A time that several numbers share, so that lists by time have to tell them apart. */
export const sharedTime = (number: number): string =>
  new Date(Date.UTC(2026, 0, 1) + ((number * 7_919) % 5) * 1_000).toISOString();
