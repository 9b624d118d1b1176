/** Finds the code host's references in a text: `#12`, `owner/repo#12`, `@login`. */
import type { Place } from '../api/vendor.ts';

export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'login'; text: string }
  | { kind: 'issue'; text: string; place: Place; number: number };

const pattern =
  /(?<![\w/#@-])(?:@(?<login>[a-z\d][a-z\d-]{0,38})|(?:(?<owner>[a-z\d][a-z\d-]{0,38})\/(?<repo>[\w.-]{1,100}))?#(?<number>\d{1,9}))(?![\w])/gi;

/**
 * Splits a text into its references and the plain pieces between them, in order. A reference that names no repository
 * belongs to `place`.
 */
export const findReferences = (text: string, place: Place): Piece[] => {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: found, index, groups = {} } of text.matchAll(pattern)) {
    if (index > end) pieces.push({ kind: 'text', text: text.slice(end, index) });
    end = index + found.length;
    const { login, owner = place.owner, repo = place.repo, number } = groups;
    pieces.push(
      login === undefined
        ? { kind: 'issue', text: found, place: { owner, repo }, number: Number(number) }
        : { kind: 'login', text: found },
    );
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) });
  return pieces;
};

/** Matches an address of a page of the code host, as texts contain it. */
const web =
  /^https:\/\/code\.example\/([a-z\d][a-z\d-]{0,38})\/([\w.-]{1,100})\/(?:issues|pull)\/(\d{1,9})(?:[?#]|$)/i;

/** Target of a link: an issue of these pages, an outside address, or undefined if it must not be a link. */
export type Destination = { place: Place; number: number } | { outside: string } | undefined;

export const destinationOf = (address: string): Destination => {
  const [, owner, repo, number] = web.exec(address) ?? [];
  if (owner !== undefined && repo !== undefined) {
    return { place: { owner, repo }, number: Number(number) };
  }
  return /^https?:\/\/[^/]|^mailto:/i.test(address) ? { outside: address } : undefined;
};
