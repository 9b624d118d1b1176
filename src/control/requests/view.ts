/** A request as clients see it. Its free JSON goes through as text. */
import type { RequestView } from '#wire/public-api/request.ts';
import type { RequestRow } from '../db/requests.ts';
import { JsonText } from '../json/json-text.ts';

const jsonMembers = ['request', 'response', 'changes', 'rows'] as const;
/** What stands for a member that the page had no room for. */
const nothing = { request: 'null', response: 'null', changes: '{}', rows: '[]' };

export const viewRequest = ({ at, ...row }: RequestRow): RequestView => {
  const members = jsonMembers.map((name) => [name, new JsonText(row[name] ?? nothing[name])]);
  return {
    ...row,
    ...(Object.fromEntries(members) as Pick<RequestView, (typeof jsonMembers)[number]>),
    ...(row.request === null ? { omitted: [...jsonMembers] } : {}),
    at: at.toISOString(),
  };
};
