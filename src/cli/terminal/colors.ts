/**
 * Colours for output that also contains untrusted text. A colour is a mark with a random key that only this process
 * knows. The output turns marks into terminal codes, and makes all other control characters visible.
 */
import { randomUUID } from 'node:crypto';
import picocolors from 'picocolors';

const names = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;

export type Colors = { isColorSupported: boolean } & Record<
  (typeof names)[number],
  (text: string) => string
>;

const key = randomUUID().replaceAll('-', '');

/** Returns a mark that has the form of a terminal code, so that it has no width when a text is measured. */
const markOf = (code: string): string => `\u001b]${key};${code}\u0007`;

const marks = new RegExp(`\u001b\\]${key};(\\d+)\u0007`);

const codeOf = (sequence = ''): string => sequence.slice(2, -1);

const painter = (name: (typeof names)[number]): ((text: string) => string) => {
  const [open, close] = picocolors.createColors(true)[name]('|').split('|').map(codeOf).map(markOf);
  return (text) => `${open}${text.replaceAll(close ?? '', `${close}${open}`)}${close}`;
};

/** Creates functions that add marks to a text, or that leave texts unchanged. */
export const createColors = (isColorSupported: boolean): Colors => {
  const plain = (text: string): string => text;
  const paints = names.map((name) => [name, isColorSupported ? painter(name) : plain] as const);
  return { isColorSupported, ...Object.fromEntries(paints) } as Colors;
};

/** Applies a function to the pieces of a text between marks. */
export const betweenColors = (text: string, change: (piece: string) => string): string =>
  text
    .split(marks)
    .map((piece, index) => (index % 2 === 0 ? change(piece) : markOf(piece)))
    .join('');

/** Turns marks into terminal codes, and applies a function to the pieces between them. */
export const renderColors = (text: string, change: (piece: string) => string): string =>
  text
    .split(marks)
    .map((piece, index) => (index % 2 === 0 ? change(piece) : `\u001b[${piece}m`))
    .join('');
