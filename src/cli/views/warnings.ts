/** Probable mistakes of a world as a person reads them: below what a command answers, each from its own line on. */
import { makeVisible } from '#domain/visible-text.ts';
import type { View } from '../terminal/context.ts';
import { wrapLines } from '../terminal/print.ts';

const head = 'warning:';

/** Returns the lines of all warnings: `warning: …`, the rest of a long one indented below it. */
export const warningLines = (warnings: readonly string[], { colors, room }: View): string[] =>
  warnings.flatMap((warning) => {
    const text = makeVisible(warning);
    const inner = room - head.length - 1;
    const [first = '', ...more] = Number.isFinite(room) ? wrapLines(text, inner) : [text];
    const indent = ' '.repeat(head.length + 1);
    return [`${colors.yellow(head)} ${first}`, ...more.map((line) => `${indent}${line}`)];
  });
