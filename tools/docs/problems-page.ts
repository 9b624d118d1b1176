/**
 * Builds the text of `docs/write-worlds/problems.md`: every problem code with its description and an example from the
 * corpus, as the command line prints it.
 */
import { type ProblemCode, problemGroups } from '#language/read/codes.ts';
import { corpus } from '../../test/contract/language/all.ts';
import type { Chapter } from '../../test/contract/language/chapter.ts';
import { otherwise } from '../../test/contract/language/otherwise.ts';
import { problemsAfter, tellProblem } from '../../test/contract/language/outcome.ts';
import type { Change } from '../../test/support/worlds/world-changes.ts';

const intro = `\
# Problems

<!-- Made by \`make docs\` from src/language/read/codes.ts and the corpus in test/contract/language/: edit those. -->

This page is a reference for authors of worlds: it explains each problem that the compiler can report, by its
code, with an example. The compiler reports all problems of a world together, in the order of files and lines.

A problem has the \`file\`, a JSON \`pointer\` into it (for TOML as if it were JSON), \`line\` and \`column\` if it
concerns one place, a \`code\`, a \`message\`, and often a \`hint\` that says how to correct it. Codes are stable;
messages are for people and may change.

Lines and columns count from 1, columns in UTF-16 code units. A problem with the name of a key points at the key,
any other problem at the value. A value over several lines is shown by its key. If something is missing, the
problem points at the table in which it is missing; if it is missing in the whole document, there is no line.

![svc worlds schema check, refusing a world](screens/refused-world.svg)

More pictures: [long lines and wide letters](screens/wide-and-long-lines.svg),
[more problems than are shown](screens/many-problems.svg).

Every example is the small world of the tests after one change. [\`test/contract/language/\`](../../test/contract/language) has all
examples: for each rule, trees that it accepts and trees that it refuses, with the exact messages.
`;

/** Upper bound for the cases of a code that are tried to find one with a line to show. */
const triedCases = 3;

const casesOf = (code: ProblemCode): { chapter: Chapter; change: Change }[] =>
  Object.values(corpus).flatMap((chapter) =>
    chapter.rules.flatMap(({ refuses }) =>
      refuses
        .filter(([, refused]) => refused === code)
        .map(([, , change]) => ({ chapter, change })),
    ),
  );

/** Returns the example of a code: the first case of the corpus with a line to show, else the first case. */
const exampleOf = (code: ProblemCode): string => {
  const result = otherwise.get(code);
  if (result !== undefined) return tellProblem(result, []).join('\n');
  let first: string | undefined;
  for (const { chapter, change } of casesOf(code).slice(0, triedCases)) {
    const { tree, problems } = problemsAfter(change, chapter);
    const example = problems.flatMap((problem) => tellProblem(problem, tree)).join('\n');
    if (problems.some(({ line }) => line !== undefined)) return example;
    first ??= example;
  }
  if (first === undefined) throw new Error(`the corpus has no case of ${code}`);
  return first;
};

/** Returns the text of the page. Throws if a code has no case. */
export const problemsPage = (): string => {
  const table = problemGroups.flatMap(({ title, codes }) => [
    `| **${title}** | |`,
    ...codes.map(({ code, sentence }) => `| [\`${code}\`](#${code}) | ${sentence} |`),
  ]);
  const examples = problemGroups.flatMap(({ title, codes }) => [
    `## ${title}`,
    ...codes.map(({ code }) => `### ${code}\n\n\`\`\`text\n${exampleOf(code)}\n\`\`\``),
  ]);
  return [
    intro,
    ['| Code | What is refused |', '| - | - |', ...table].join('\n'),
    '',
    `${examples.join('\n\n')}\n`,
  ].join('\n');
};
