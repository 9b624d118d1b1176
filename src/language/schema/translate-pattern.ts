/**
 * Translates an ECMAScript pattern, as JSON Schema uses them, into an equivalent RE2 pattern. The two notations are
 * similar and differ in details: the meaning of `.` and `\s`, escapes that only one of them has, surrogate pairs, empty
 * classes.
 *
 * The pattern must be valid in ECMAScript with the flag `u`. An escaped punctuation mark that needs no escape (`\-`,
 * `\@`) is accepted, because it can have only one meaning.
 */

type Translation = { text: string; next: number };

const spaces = String.raw`\t-\r\x20\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const notSpaces = String.raw`\x00-\x08\x0e-\x1f\x21-\x9f\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
const anything = String.raw`[\x00-\x{10ffff}]`;
const nothing = String.raw`[^\x00-\x{10ffff}]`;
const notLineEnd = String.raw`[^\n\r\x{2028}\x{2029}]`;

const controls: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
  ['f', 12],
  ['0', 0],
]);

const character = (codePoint: number): string => `\\x{${codePoint.toString(16)}}`;

const hexEscape = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]+)\})/iy;
const surrogatePair = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/iy;
const property = /\\[pP]\{[^}]*\}/y;

const matchAt = (expression: RegExp, source: string, at: number): RegExpExecArray | null => {
  expression.lastIndex = at;
  return expression.exec(source);
};

const readCodeEscape = (source: string, at: number): Translation | undefined => {
  const pair = matchAt(surrogatePair, source, at);
  if (pair !== null) {
    const [text, high = '', low = ''] = pair;
    const joined = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16));
    return { text: character(joined.codePointAt(0) ?? 0), next: at + text.length };
  }
  const found = matchAt(hexEscape, source, at);
  if (found === null) return undefined;
  const [text, byte, unit, point] = found;
  const code = Number.parseInt(byte ?? unit ?? point ?? '', 16);
  return { text: character(code), next: at + text.length };
};

const refuseEscape = (escaped: string): never => {
  throw new Error(`it has a back-reference to a group, \\${escaped}`);
};

/** Translates the escape that begins at a backslash. */
const readEscape = (source: string, at: number, isInClass: boolean): Translation => {
  const escaped = String.fromCodePoint(source.codePointAt(at + 1) ?? 0);
  const next = at + 1 + escaped.length;
  if (/[1-9k]/.test(escaped)) refuseEscape(escaped);
  if (escaped === 's') return { text: isInClass ? spaces : `[${spaces}]`, next };
  if (escaped === 'S') return { text: isInClass ? notSpaces : `[${notSpaces}]`, next };
  if (escaped === 'b' && isInClass) return { text: character(8), next };
  if (/[dDwWbB]/.test(escaped)) return { text: `\\${escaped}`, next };
  const control = controls.get(escaped);
  if (control !== undefined) return { text: character(control), next };
  if (escaped === 'c') return { text: character(source.charCodeAt(next) % 32), next: next + 1 };
  const [named] = matchAt(property, source, at) ?? [];
  if (named !== undefined) return { text: named, next: at + named.length };
  const coded = readCodeEscape(source, at);
  return coded ?? { text: character(escaped.codePointAt(0) ?? 0), next };
};

/** Translates a class in brackets that begins at `at`. */
const readClass = (source: string, at: number): Translation => {
  const isNegated = source[at + 1] === '^';
  let next = at + (isNegated ? 2 : 1);
  if (source[next] === ']') return { text: isNegated ? anything : nothing, next: next + 1 };
  let text = isNegated ? '[^' : '[';
  while (source[next] !== ']') {
    if (source[next] === '\\') {
      const escaped = readEscape(source, next, true);
      text += escaped.text;
      next = escaped.next;
    } else {
      const point = source.codePointAt(next) ?? 0;
      text += source[next] === '-' ? '-' : character(point);
      next += String.fromCodePoint(point).length;
    }
  }
  return { text: `${text}]`, next: next + 1 };
};

/** Returns the pattern with each escaped punctuation mark in a form that all notations accept. */
const withPlainEscapes = (source: string): string =>
  source.replace(/\\([^A-Za-z0-9])/gu, (_all, mark: string) => {
    const code = (mark.codePointAt(0) ?? 0).toString(16);
    return `\\u{${code}}`;
  });

const refuseOtherDialects = (source: string): void => {
  try {
    new RegExp(source, 'u');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [reason = message] = message.split(': ').slice(-1);
    const [flag] = /\(\?[ims]+(?=\))/.exec(source) ?? [];
    const hint =
      flag === undefined ? '' : `; write a flag with the part to which it applies, ${flag}:…)`;
    throw new Error(`it is not a valid ECMAScript pattern: ${reason.toLowerCase()}${hint}`, {
      cause: error,
    });
  }
};

const refuseLookAround = (source: string, at: number): void => {
  const [found] = matchAt(/\(\?<?[=!]/y, source, at) ?? [];
  if (found !== undefined) throw new Error(`it has a look-around, ${found}`);
};

/**
 * Returns the pattern in RE2's notation. Throws with the reason if the pattern is invalid, or has look-around or
 * back-references.
 */
export const translatePattern = (written: string): string => {
  const source = withPlainEscapes(written);
  refuseOtherDialects(source);
  let text = '';
  for (let at = 0; at < source.length; ) {
    const mark = source[at];
    if (mark === '\\' || mark === '[') {
      const part = mark === '[' ? readClass(source, at) : readEscape(source, at, false);
      text += part.text;
      at = part.next;
    } else {
      refuseLookAround(source, at);
      text += mark === '.' ? notLineEnd : mark;
      at += 1;
    }
  }
  return text;
};
