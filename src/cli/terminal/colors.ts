/**
 * Colours of our own in texts that strangers' texts are a part of. A colour is a mark that only this process knows how to
 * make; the output turns marks into what a terminal obeys, and writes out all else that a terminal would obey.
 */
import { randomUUID } from 'node:crypto';
import picocolors from 'picocolors';

const names = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;

export type Colors = { isColorSupported: boolean } & Record<
  (typeof names)[number],
  (text: string) => string
>;

const key = randomUUID().replaceAll('-', '');

/** Mark in the form of a terminal command, which has no width when a text is measured. */
const markOf = (code: string): string => `\u001b]${key};${code}\u0007`;

const marks = new RegExp(`\u001b\\]${key};(\\d+)\u0007`);

const codeOf = (sequence = ''): string => sequence.slice(2, -1);

const painter = (name: (typeof names)[number]): ((text: string) => string) => {
  const [open, close] = picocolors.createColors(true)[name]('|').split('|').map(codeOf).map(markOf);
  return (text) => `${open}${text.replaceAll(close ?? '', `${close}${open}`)}${close}`;
};

/** Colours as marks, or none. */
export const createColors = (isColorSupported: boolean): Colors => {
  const plain = (text: string): string => text;
  const paints = names.map((name) => [name, isColorSupported ? painter(name) : plain] as const);
  return { isColorSupported, ...Object.fromEntries(paints) } as Colors;
};

/** Changes the pieces of a text that stand between colours. */
export const betweenColors = (text: string, change: (piece: string) => string): string =>
  text
    .split(marks)
    .map((piece, index) => (index % 2 === 0 ? change(piece) : markOf(piece)))
    .join('');

/** Turns colours into what a terminal obeys, and changes the pieces between them. */
export const renderColors = (text: string, change: (piece: string) => string): string =>
  text
    .split(marks)
    .map((piece, index) => (index % 2 === 0 ? change(piece) : `\u001b[${piece}m`))
    .join('');
