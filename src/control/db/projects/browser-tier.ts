/**
 * Default browser tier of sessions: the tier set for the project; if there is none, the tier set for its organization.
 */
import type { BrowserTier } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';

export type TierSettings = { project: BrowserTier | null; organization: BrowserTier | null };

const findStatement = statement(
  'find_browser_tier',
  `select p.browser_tier as project, o.browser_tier as organization
     from projects p join organizations o on o.id = p.organization_id where p.id = $1`,
);

export const findTierSettings = async (db: Queryable, projectId: string): Promise<TierSettings> =>
  (await db.query<TierSettings>(findStatement, [projectId]))[0] ?? {
    project: null,
    organization: null,
  };
