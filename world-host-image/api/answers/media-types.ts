/**
 * Which of the media types of a route its client wants, by `Accept`. JSON is always one of them; a world
 * that declares no others answers JSON whatever is asked for, as clients of many vendors ask for anything.
 */
import type { ApiContract, RouteContract } from '#language/contract.ts';

const json = 'application/json';

type Range = { type: string; weight: number };

const weightPattern = /^\s*q\s*=\s*(\d+(?:\.\d*)?)\s*$/i;

/** One that cannot be read counts as none. */
const weightOf = (parameters: readonly string[]): number => {
  const [found] = parameters.flatMap((text) => weightPattern.exec(text)?.[1] ?? []);
  return Number(found ?? 1);
};

/** What is accepted at all, the most wanted first; of two wanted alike the one that is named first. */
const readAccept = (accept: string): Range[] =>
  accept
    .split(',')
    .map((part): Range => {
      const [type = '', ...parameters] = part.split(';');
      return { type: type.trim().toLowerCase(), weight: weightOf(parameters) };
    })
    .filter(({ type, weight }) => type !== '' && weight > 0)
    .sort((a, b) => b.weight - a.weight);

/** A declared type may hold one `*`, for whatever stands there. */
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

/** The type to answer in; undefined when none of those offered, JSON first, is wanted. */
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

/** The type to answer a route in, or why there is none. */
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
