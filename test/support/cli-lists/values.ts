/** Long but realistic values of entries in lists, and how a list of two entries is made of them. */
import type { View } from '../../../src/cli/terminal/context.ts';

/** A list: the text by which its entry is named, and the list in a view. */
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

/** An entry with the fields that a list reads. */
export const entry = <Entry>(parts: object): Entry => parts as Entry;

export type Of<List extends (...given: never[]) => string> = Parameters<List>[0];
/** Makes a list of two entries: one with long values, and one that says less. */
export const list =
  <Given extends readonly unknown[]>(
    view: (given: Given, view: View) => string,
    long: object,
    short: object = {},
  ) =>
  (of: View): string =>
    view([long, { ...long, ...short }] as unknown as Given, of);
