/**
 * Creates, renames and deletes projects. A project with open sessions cannot be deleted. Deleting a project also
 * deletes its worlds and keys; the remaining rows (calls, ledgers, the audit log) stay stored, but no route returns
 * them any more.
 */
import { slugForm, slugOf } from '#domain/account.ts';
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import type { ProjectView } from '#wire/public-api/projects/account.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import { violates } from '../../db/core/errors.ts';
import {
  deleteProject as deleteRow,
  findProject,
  insertProject,
  listOpenSessions,
  lockProject,
  mostProjects,
  type ProjectRow,
  updateProject as updateRow,
} from '../../db/projects/projects.ts';
import { type Changer, change, findMade, noteCreation, type Once } from './change.ts';

/** Maximum length of a project's metadata as JSON, in characters. */
const mostMetadataChars = 16 * 1024;

export const viewProject = (row: ProjectRow): ProjectView => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  organization: { id: row.organizationId, name: row.organizationName },
  metadata: row.metadata,
  createdAt: row.createdAt.toISOString(),
});

/** Returns a project of an organization. Throws `not_found`. */
export const getProject = async (
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<ProjectRow> => {
  const row = await findProject(db, id);
  if (row?.organizationId === organizationId) return row;
  throw new AppError('not_found', `there is no project "${id}"`);
};

const invalid = (field: string, message: string): AppError =>
  new AppError('invalid', `invalid request: ${field} ${message}`, {
    fields: [{ path: [field], message }],
  });

const checkMetadata = (metadata: object | undefined): void => {
  if (metadata === undefined || JSON.stringify(metadata).length <= mostMetadataChars) return;
  throw invalid('metadata', `is longer than ${mostMetadataChars} characters`);
};

const readSlug = ({ name, slug = slugOf(name) }: { name: string; slug?: string | undefined }) => {
  if (slugForm.test(slug)) return slug;
  throw invalid(
    'name',
    `"${name}" cannot be turned into a slug: give a "slug" of a-z, 0-9 and "-"`,
  );
};

const takenError = (slug: string): AppError =>
  new AppError('conflict', `the organization has a project "${slug}" already`, {
    detail: { slug },
  });

export type NewProject = { name: string; slug?: string | undefined; metadata?: object | undefined };

/** Creates a project, or returns the one that an earlier request with the same `Idempotency-Key` created. */
export const createProject = async (
  db: Database,
  changer: Changer,
  wanted: NewProject,
  once: Once,
): Promise<{ project: ProjectRow; isNew: boolean }> => {
  const { name, metadata = {} } = wanted;
  checkMetadata(metadata);
  const slug = readSlug(wanted);
  try {
    return await change(db, changer, async (changing) => {
      const { tx, organization, record } = changing;
      const made = await findMade(changing, once);
      if (made !== undefined) {
        return { project: await getProject(tx, organization.id, made), isNew: false };
      }
      const id = newId('prj');
      const organizationId = organization.id;
      if (!(await insertProject(tx, { id, organizationId, slug, name, metadata }))) {
        const message = `an organization has at most ${mostProjects} projects`;
        throw new AppError('conflict', message);
      }
      await noteCreation(changing, once, id);
      await record({
        ...{ projectId: id, action: 'project.create', subject: id },
        ...{ before: null, after: { slug, name, metadata } },
      });
      return { project: await getProject(tx, organizationId, id), isNew: true };
    });
  } catch (error) {
    throw violates(error, 'projects_organization_id_slug_key') ? takenError(slug) : error;
  }
};

/** Changes the name and the metadata of a project; a member that is not given stays unchanged. */
export const updateProject = (
  db: Database,
  changer: Changer,
  id: string,
  { name, metadata }: { name?: string | undefined; metadata?: object | undefined },
): Promise<ProjectRow> => {
  checkMetadata(metadata);
  return change(db, changer, async ({ tx, organization, record }) => {
    const before = await getProject(tx, organization.id, id);
    await updateRow(tx, { id, name: name ?? null, metadata: metadata ?? null });
    const after = await getProject(tx, organization.id, id);
    const shown = (row: ProjectRow) => ({ name: row.name, metadata: row.metadata });
    await record({
      ...{ projectId: id, action: 'project.change', subject: id },
      ...{ before: shown(before), after: shown(after) },
    });
    return after;
  });
};

/** Deletes a project. Throws `conflict` while it has open sessions. */
export const deleteProject = (
  db: Database,
  changer: Changer,
  id: string,
): Promise<{ project: ProjectRow; worlds: number; keys: number }> =>
  change(db, changer, async ({ tx, organization, record }) => {
    const project = await getProject(tx, organization.id, id);
    await lockProject(tx, id);
    const sessions = await listOpenSessions(tx, id);
    if (sessions.length > 0) {
      const many = sessions.length === 20 ? '20 or more' : String(sessions.length);
      const message = `sessions of "${project.slug}" are open (${many}): close them first, they would end`;
      throw new AppError('conflict', message, { detail: { sessions } });
    }
    const gone = await deleteRow(tx, id);
    if (gone === undefined) throw new AppError('not_found', `there is no project "${id}"`);
    const before = { slug: project.slug, name: project.name };
    const after = { worlds: gone.worlds, keys: gone.keys };
    await record({ projectId: id, action: 'project.delete', subject: id, before, after });
    return { project, ...gone };
  });
