/** Finds how lists are divided into pages, from parameters and answers. */
import type { JsonSchema } from '#language/contract.ts';
import type { Api, ApiRoute, Mark } from './api.ts';
import type { FoundEntities } from './entities.ts';

const limitNames =
  /^(?:limit|per_?page|page_?size|page_?limit|max_?results?|count|size|first|top|\$top|take)$/i;
const offsetNames = /^(?:offset|start|start_?at|skip|\$skip|from|first_result)$/i;
const cursorNames =
  /^(?:cursor|page_?token|next_?(?:page_?)?token|after|starting_after|marker|continuation(?:_?token)?|scroll_?id|page\[(?:cursor|after)\])$/i;
const pageNames = /^(?:page|page_?number|page_?no|page\[number\])$/i;
const cursorFields =
  /^(?:cursor|next|next_?cursor|next_?page|next_?(?:page_?)?token|continuation(?:_?token)?|end_?cursor|page_?token)$/i;
const totalFields = /^(?:total|total_?(?:count|items|results|size|hits)|count|hits|size)$/i;

export type Paging = {
  kind: 'none' | 'offset' | 'cursor';
  limitParam?: string;
  offsetParam?: string;
  cursorParam?: string;
  cursorKey?: string;
  hitsKey: string;
};

/** Returns true if a parameter of this name controls paging. */
export const isPagingParam = (name: string): boolean =>
  [limitNames, offsetNames, cursorNames, pageNames].some((names) => names.test(name));

/** Returns the most frequent of the given names. */
const usual = (names: readonly string[]): string | undefined => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
};

const fieldsBeside = ({ answer }: ApiRoute, names: RegExp, types: readonly string[]): string[] =>
  Object.entries((answer?.properties ?? {}) as Record<string, JsonSchema>)
    .filter(([, schema]) => [schema.type].flat().some((type) => types.includes(String(type))))
    .map(([name]) => name)
    .filter((name) => names.test(name));

/** Returns the paging that most lists of an API use. */
export const findPaging = ({ routes }: Api, { byRoute }: FoundEntities, marks: Mark[]): Paging => {
  const lists = routes.filter(({ name }) => byRoute.get(name)?.rows.isList === true);
  const params = lists.flatMap((route) => route.params.map(({ name }) => name));
  const named = (names: RegExp) => usual(params.filter((name) => names.test(name)));
  const inEnvelopes = lists.filter(({ name }) => byRoute.get(name)?.rows.under !== '');
  const cursorKey = usual(
    inEnvelopes.flatMap((route) => fieldsBeside(route, cursorFields, ['string', 'integer'])),
  );
  const hitsKey =
    usual(
      inEnvelopes.flatMap((route) => fieldsBeside(route, totalFields, ['integer', 'number'])),
    ) ?? '';
  const [limitParam, offsetParam, cursorParam] = [limitNames, offsetNames, cursorNames].map(named);
  const common = { hitsKey, ...(limitParam === undefined ? {} : { limitParam }) };
  if (cursorParam !== undefined && cursorKey !== undefined) {
    return { ...common, kind: 'cursor', cursorParam, cursorKey };
  }
  if (offsetParam !== undefined) return { ...common, kind: 'offset', offsetParam };
  const page = named(pageNames);
  if (page !== undefined || cursorParam !== undefined) {
    const message = `lists are paged by "${cursorParam ?? page}", which a route cannot do without a handler: all rows are answered at once`;
    marks.push({ place: '[api] page', message });
  }
  return { ...common, kind: 'none' };
};
