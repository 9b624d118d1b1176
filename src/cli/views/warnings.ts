/** Formats probable mistakes of a world for a person. They follow the answer of a command, each from a new line on. */
import { makeVisible } from '#domain/visible-text.ts';
import type { View } from '../terminal/context.ts';
import { wrapLines } from '../terminal/print.ts';

const head = 'warning:';

/** Formats all warnings: `warning: …`, with further lines of a long one indented. */
export const warningLines = (warnings: readonly string[], { colors, columns }: View): string[] =>
  warnings.flatMap((warning) => {
    const text = makeVisible(warning);
    const inner = columns - head.length - 1;
    const [first = '', ...more] = Number.isFinite(columns) ? wrapLines(text, inner) : [text];
    const indent = ' '.repeat(head.length + 1);
    return [`${colors.yellow(head)} ${first}`, ...more.map((line) => `${indent}${line}`)];
  });
