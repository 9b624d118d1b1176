/**
 * Patterns for which the language's own engine takes no more steps than RE2 does, and a twentieth of its time: a whole text
 * as a row of characters and classes, like `^[a-z][a-z0-9-]*$` or `^[A-Z]+-\d+$`. That engine tries each way to share a text
 * between repeats. Here there is one way only, as what follows a repeat begins with nothing that could be repeated.
 */

/** A class, a kind of character or a character, and how often it comes. */
const part = /(\[[\w.:/@ -]+\]|\\[dw]|\\[.\-/+]|[\w:/@ -])([*+?]|\{\d{1,3}\}|)/y;

type Part = { source: string; repeat: string };

/** The parts of a pattern; undefined of one that has others. */
const partsOf = (pattern: string): Part[] | undefined => {
  if (!pattern.startsWith('^') || !pattern.endsWith('$')) return undefined;
  const parts: Part[] = [];
  const end = pattern.length - 1;
  for (part.lastIndex = 1; part.lastIndex < end; ) {
    const [, source, repeat] = part.exec(pattern) ?? [];
    if (source === undefined || repeat === undefined) return undefined;
    parts.push({ source, repeat });
  }
  return parts;
};

/** All that a part can stand for: none of them has characters beyond ASCII. */
const charactersOf = ({ source }: Part): string[] => {
  const one = new RegExp(source, 'u');
  return Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter((text) =>
    one.test(text),
  );
};

const areApart = (one: Part, next: Part): boolean => {
  const following = new Set(charactersOf(next));
  return !charactersOf(one).some((character) => following.has(character));
};

/** Whether a pattern is one of these. What may be absent is the last part, so that it is plain what follows a repeat. */
export const isPlainPattern = (pattern: string): boolean => {
  const parts = partsOf(pattern);
  if (parts === undefined) return false;
  return parts.every((each, index) => {
    const next = parts[index + 1];
    if (next === undefined || each.repeat === '' || each.repeat.startsWith('{')) return true;
    return each.repeat === '+' && areApart(each, next);
  });
};
