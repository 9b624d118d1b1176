/**
 * Escapes hidden characters in texts that people read: control characters, characters without width, and those that
 * change the direction of text become `\u001b` and the like. A terminal obeys such characters, and a reader does not
 * see them. Within a JSON string the escape means the same character, so JSON stays JSON with the same value.
 */

const hidden = String.raw`\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;
const hiddenCharacters = new RegExp(`[${hidden}]`, 'gu');
const hiddenInLines = new RegExp(`(?![\\n\\t])[${hidden}]`, 'gu');

const escapeOf = (characters: string): string =>
  characters
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** Returns the text on one line, with every hidden character escaped. */
export const makeVisible = (text: string): string => text.replace(hiddenCharacters, escapeOf);

/** Returns the text with every hidden character escaped except line ends and tabs. */
export const makeLinesVisible = (text: string): string => text.replace(hiddenInLines, escapeOf);
