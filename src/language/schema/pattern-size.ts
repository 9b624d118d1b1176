/**
 * How large the program is that a pattern compiles to, told from its text before it is compiled. Running
 * it takes time in proportion to that size and the length of the text; counted repeats multiply it.
 */

const token =
  /\\(?:[xpP]\{[^}]*\}|[\s\S])|\[(?:\\(?:[xpP]\{[^}]*\}|[\s\S])|[^\]\\])*\]|\((?:\?(?:<[^>]*>|[a-z-]*:))?|\)|\{(\d+)(?:,(\d*))?\}|[^\\[(){}]/gu;

/** The size of a pattern in RE2's notation: characters and operators, each as often as it is repeated. */
export const patternSize = (pattern: string): number => {
  const open: number[] = [];
  let total = 0;
  /** Size of what a repeat would apply to. */
  let last = 0;
  for (const [text, least, most] of pattern.matchAll(token)) {
    if (text.startsWith('(')) {
      open.push(total);
      total = 0;
    } else if (text === ')') {
      last = total + 2;
      total = (open.pop() ?? 0) + last;
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? least), 1);
      total += last * (times - 1);
      last *= times;
    } else {
      last = /^[*+?|]$/.test(text) ? last : 1;
      total += 1;
    }
  }
  return open.reduce((sum, before) => sum + before, total);
};
