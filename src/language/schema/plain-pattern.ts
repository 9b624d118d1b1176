/**
 * Patterns for which the JavaScript engine takes no more steps than RE2, and a twentieth of the time. They describe a
 * whole text as a sequence of characters and classes, like `^[a-z][a-z0-9-]*$` or `^[A-Z]+-\d+$`. The JavaScript engine
 * tries each way to divide a text between repetitions. For these patterns there is only one way, because the part after
 * a repetition never begins with a character that could be repeated.
 */

/** Pattern of one part: a class, an escape or a character, with its repetition. */
const part = /(\[[\w.:/@ -]+\]|\\[dw]|\\[.\-/+]|[\w:/@ -])([*+?]|\{\d{1,3}\}|)/y;

type Part = { source: string; repeat: string };

/** Returns the parts of a pattern; undefined if the pattern has anything else. */
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

/** Returns all characters that a part can match; all of them are ASCII. */
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

/**
 * Returns true if a pattern is of the form described above. Only the last part may be optional, so that the part after
 * a repetition is always known.
 */
export const isPlainPattern = (pattern: string): boolean => {
  const parts = partsOf(pattern);
  if (parts === undefined) return false;
  return parts.every((each, index) => {
    const next = parts[index + 1];
    if (next === undefined || each.repeat === '' || each.repeat.startsWith('{')) return true;
    return each.repeat === '+' && areApart(each, next);
  });
};
