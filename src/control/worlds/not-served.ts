/**
 * What a world's contract says that world hosts do not act on yet. Where that would make them answer
 * otherwise than the world says, the world is refused; where only something would be missing, its
 * author is warned.
 */
import type { ApiContract, Contract } from '#language/contract.ts';
import type { Problem } from '#language/problem.ts';

const connectorFile = 'connector.toml';

const notServed = (pointer: string, message: string, hint: string): Problem => ({
  file: connectorFile,
  pointer,
  code: 'not_served',
  message: `${message}: world hosts do not do that yet`,
  hint,
});

/** Keys of `[api]` that speak of pages, with whether the world uses them. */
const pagingKeys = ({ paging }: ApiContract): [key: string, isUsed: boolean][] => [
  ['previous_key', paging.previousKey !== null],
  ['page_headers', Object.keys(paging.headers).length > 0],
  ['page_links', paging.links],
];

const refusedPaging = ({ api, vendor }: Contract): Problem[] => {
  if (api === null) return [];
  const position = new Map(vendor?.operations.map(({ name }, index) => [name, index]));
  const routes = api.routes
    .filter(({ page }) => page !== 'none')
    .map(({ operation, page }) =>
      notServed(
        `/operations/${position.get(operation) ?? ''}`,
        `"${operation}" answers in pages (page = "${page}")`,
        'leave "page" out of it and of [api]: all rows are answered at once; or page in a handler',
      ),
    );
  const keys = pagingKeys(api)
    .filter(([, isUsed]) => isUsed)
    .map(([key]) => notServed(`/api/${key}`, `"${key}" tells of pages`, `leave "${key}" out`));
  return [...routes, ...keys];
};

/** Problems, each `not_served`, for which a world is refused; in the order of the file. */
export const notServedYet = (contract: Contract): Problem[] => refusedPaging(contract);

const quote = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** What of the world will be missing from its sessions, a sentence each. */
export const warningsOf = ({ dependencies, onPush, tasks, ui, webhooks }: Contract): string[] => {
  const byQuery = tasks.filter(({ grader }) => grader?.kind === 'sql').map(({ name }) => name);
  const narrowed = tasks.filter(({ tools }) => tools !== null).map(({ name }) => name);
  const linked = dependencies.map(({ alias }) => alias);
  const warnings: [isMissing: boolean, sentence: string][] = [
    [ui !== null, 'the surface "ui" is not served yet'],
    [webhooks !== null, 'webhooks are noted in the request ledger, but not sent yet'],
    [linked.length > 0, `linked worlds are not opened along yet: ${quote(linked)}`],
    [onPush.length > 0, 'tests are not run on a push yet'],
    [byQuery.length > 0, `tasks graded by a query cannot be opened yet: ${quote(byQuery)}`],
    [narrowed.length > 0, `tasks with tools of their own still get all tools: ${quote(narrowed)}`],
  ];
  return warnings.filter(([isMissing]) => isMissing).map(([, sentence]) => sentence);
};
