/** Formats probable mistakes in a world for people. They follow the answer of a command; each begins on a new line. */
import { makeVisible } from '#domain/visible-text.ts';
import type { View } from '../terminal/context.ts';
import { wrapLines } from '../terminal/print.ts';

const head = 'warning:';

/** Formats all warnings as `warning: …`; further lines of a long warning are indented. */
export const warningLines = (warnings: readonly string[], { colors, columns }: View): string[] =>
  warnings.flatMap((warning) => {
    const text = makeVisible(warning);
    const inner = columns - head.length - 1;
    const [first = '', ...more] = Number.isFinite(columns) ? wrapLines(text, inner) : [text];
    const indent = ' '.repeat(head.length + 1);
    return [`${colors.yellow(head)} ${first}`, ...more.map((line) => `${indent}${line}`)];
  });
