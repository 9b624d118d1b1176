/** Long but realistic values for entries of lists, and a builder of lists with two entries. */
import type { View } from '../../../../src/cli/terminal/context.ts';

/** A case of a list: the text that identifies its first entry, and the function that prints the list to a view. */
export type ListCase = [first: string, show: (view: View) => string];

export const at = '2026-01-01T09:30:00.000Z';
export const idOf = (prefix: string): string => `${prefix}-01kaz4x0pg8q2m5v7n3c1d9e6f`;
export const key = 'pk-u72IVaiPu4PnuGpw0KdxT06QX8I6T8iwX1i52ys39EE';
export const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
export const traceId = '5f1c2d3e4f5061728394a5b6c7d8e9f0';
export const text =
  'Refunds of orders that were paid twice (返金), as customers of the north asked for them';
export const name = 'refunds-of-orders-that-were-paid-twice-in-the-north';
export const email = 'bo.northington@customer-support.example';
export const url = 'https://app.clinicdesk.example.com/webhooks/appointments/north';

/** Returns an entry with only the fields that a list reads. */
export const entry = <Entry>(parts: object): Entry => parts as Entry;

export type Of<List extends (...given: never[]) => string> = Parameters<List>[0];
/** Builds a list of two entries: one with long values, and one with fewer fields. */
export const list =
  <Given extends readonly unknown[]>(
    view: (given: Given, view: View) => string,
    long: object,
    short: object = {},
  ) =>
  (of: View): string =>
    view([long, { ...long, ...short }] as unknown as Given, of);
