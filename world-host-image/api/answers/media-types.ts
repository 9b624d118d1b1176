/**
 * Chooses the media type of an answer by the request's `Accept`. JSON is always offered. A world that declares no other
 * types answers JSON for any `Accept`, because clients of many vendors send arbitrary values.
 */
import type { ApiContract, RouteContract } from '#language/contract.ts';

const json = 'application/json';

type Range = { type: string; weight: number };

const weightPattern = /^\s*q\s*=\s*(\d+(?:\.\d*)?)\s*$/i;

/** Returns the weight of a type (`q`); an unreadable weight counts as absent, and an absent weight is 1. */
const weightOf = (parameters: readonly string[]): number => {
  const [found] = parameters.flatMap((text) => weightPattern.exec(text)?.[1] ?? []);
  return Number(found ?? 1);
};

/** Returns the accepted types by descending weight; types of equal weight keep their order. */
const readAccept = (accept: string): Range[] =>
  accept
    .split(',')
    .map((part): Range => {
      const [type = '', ...parameters] = part.split(';');
      return { type: type.trim().toLowerCase(), weight: weightOf(parameters) };
    })
    .filter(({ type, weight }) => type !== '' && weight > 0)
    .sort((a, b) => b.weight - a.weight);

/** Returns true if the type matches the declared type. In the declared type, a single `*` stands for any text. */
export const fits = (declared: string, type: string): boolean => {
  const [start = '', end] = declared.split('*');
  if (end === undefined) return declared === type;
  return type.length >= start.length + end.length && type.startsWith(start) && type.endsWith(end);
};

const offeredFor = (range: string, offered: readonly string[]): string | undefined => {
  if (range === '*/*') return json;
  if (!range.endsWith('/*')) return offered.some((type) => fits(type, range)) ? range : undefined;
  return offered.find((type) => type.startsWith(range.slice(0, -1)) && !type.includes('*'));
};

/**
 * Returns the offered type that the client prefers: the types in `Accept` are tried by weight, then by their order. A
 * range of types selects the first offered type in the range; JSON is offered first. Undefined if the client accepts
 * none of the offered types.
 */
export const chooseMediaType = (
  accept: string | undefined,
  offered: readonly string[],
): string | undefined => {
  if (accept === undefined || accept.trim() === '') return json;
  for (const { type } of readAccept(accept)) {
    const found = offeredFor(type, offered);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Returns the media type in which a route answers, or the reason for refusing the request. */
export const negotiate = (
  api: ApiContract,
  route: RouteContract,
  accept: string | undefined,
): { mediaType: string } | { refusal: string } => {
  if (api.mediaTypes === undefined && route.mediaTypes === undefined) return { mediaType: json };
  const offered = [json, ...(api.mediaTypes ?? []), ...(route.mediaTypes ?? [])];
  const mediaType = chooseMediaType(accept, offered);
  return mediaType === undefined
    ? { refusal: `the path answers ${offered.join(', ')} and nothing else` }
    : { mediaType };
};
