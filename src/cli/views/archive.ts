/** Formats the result of grading an archive again. */
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import type { Colors } from '../terminal/context.ts';
import { describeGrade } from './call.ts';

export type RegradedAnswer = { same: boolean; archived: Grade | null; grade: Grade | null };

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');

const gradeText = (grade: Grade | null, colors: Colors): string =>
  grade === null ? 'no grade: the session has no task with a grader' : describeGrade(grade, colors);

/** Formats the new grade. If it differs from the archived one, formats both. */
export const describeRegraded = (
  { same, archived, grade }: RegradedAnswer,
  colors: Colors,
): string =>
  same
    ? `${gradeText(grade, colors)}\n${colors.green('the same grade, byte for byte')}`
    : [
        colors.red('the grade differs from the one in the archive'),
        'in the archive:',
        indented(gradeText(archived, colors)),
        'now:',
        indented(gradeText(grade, colors)),
      ].join('\n');
