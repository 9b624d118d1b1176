/** Endpoints of project files, and the same endpoints below each world of the project. */
import { joinFilePath, readFilePath } from '#domain/file-path.ts';
import { limits } from '#domain/limits.ts';
import * as api from '#wire/public-api/operations.ts';
import type { FileListQuery, UploadBody } from '#wire/public-api/projects/file.ts';
import type { FileConnectorBody } from '#wire/public-api/projects/file-connector.ts';
import {
  countFileConnectors,
  listFileConnectors,
  removeFileConnector,
} from '../../../db/projects/file-connectors.ts';
import { findFolder, listFolders, lockFiles } from '../../../db/projects/file-folders.ts';
import { listFiles } from '../../../db/projects/files.ts';
import type { NamePage } from '../../../db/projects/folder-entries.ts';
import type { Parts } from '../../../parts.ts';
import {
  getConnector,
  makeConnector,
  updateConnector,
  viewConnector,
} from '../../../projects/files/connectors.ts';
import { syncConnector } from '../../../projects/files/sync.ts';
import { ensureFolder, getFile, moveAt, removeAt } from '../../../projects/files/tree.ts';
import { confirmUpload, discardUpload, requestUpload } from '../../../projects/files/uploads.ts';
import {
  viewDownload,
  viewFile,
  viewFolder,
  viewSettled,
  viewUpload,
} from '../../../projects/files/view.ts';
import { getWorld } from '../../../worlds/versions/address.ts';
import { type Endpoint, endpoint, type ProjectCaller, respond } from '../../server/endpoint.ts';
import { type CursorForm, openPage, type PageQuery, toMeta, toRange } from '../../server/paging.ts';

/** Names of the last folder and the last file before a page; null if the page begins at the first folder or file. */
type Position = { folder: string | null; file: string | null };

const isName = (part: unknown): part is string | null =>
  part === null || (typeof part === 'string' && !part.includes('\0') && part.isWellFormed());

const byName: CursorForm<Position> = {
  write: ({ folder, file }) => [folder ?? '', file ?? ''],
  read: ([folder, file]) =>
    isName(folder) && isName(file) ? { folder: folder || null, file: file || null } : undefined,
};

/** Text that sorts after every name. */
const lastName = '\u{10ffff}';

const pathBelow = (above: string, name: string): string => `${above}${name}`;

/** Returns a page of a folder; the page of a missing folder is empty. */
const readPage = async ({ db }: Parts, projectId: string, query: FileListQuery) => {
  const { names } = readFilePath('prefix', query.prefix ?? '');
  const { page, ...rest } = query;
  const paged = page === undefined ? rest : { ...rest, page: page + 1 };
  const { range, metaOf } = openPage(paged, byName);
  const folder = await findFolder(db, projectId, names);
  if (folder === undefined) {
    return { folders: [], files: [], totalFiles: 0, totalFolders: 0, nextCursor: null };
  }
  const above = names.map((name) => `${name}/`).join('');
  const { limit, offset, from } = range;
  const pageOf = (after: string | null | undefined): NamePage => ({
    limit: limit + 1,
    offset,
    after: after ?? null,
  });
  const [folders, files] = await Promise.all([
    listFolders(db, folder.id, pageOf(from?.folder)),
    listFiles(db, folder.id, pageOf(from?.file)),
  ]);
  const shown = { folders: folders.slice(0, limit), files: files.slice(0, limit) };
  const lastOf = (rows: readonly { name: string }[], before: string | null | undefined) =>
    rows.at(-1)?.name ?? before ?? (offset > 0 ? lastName : null);
  const last = {
    folder: lastOf(shown.folders, from?.folder),
    file: lastOf(shown.files, from?.file),
  };
  const hasMore = folders.length > limit || files.length > limit;
  const count = { total: folder.files, isLowerBound: false };
  return {
    folders: shown.folders.map((row) => viewFolder(pathBelow(above, row.name), row)),
    files: shown.files.map((row) => viewFile(above, row)),
    totalFiles: folder.files,
    totalFolders: folder.folders,
    nextCursor: metaOf({ rows: [last], hasMore, count }).nextCursor ?? null,
  };
};

const makeFolder = ({ db }: Parts, projectId: string, given: string) => {
  const { names } = readFilePath('path', given);
  return db.transaction(async (tx) => {
    await lockFiles(tx, projectId);
    const { folder, isNew } = await ensureFolder(tx, projectId, names);
    return { view: viewFolder(joinFilePath(names), folder), isNew };
  });
};

/** Operations on the files of a project, shared by the routes of the project and those below its worlds. */
const drive = (parts: Parts) => {
  const { db, addresses } = parts;
  return {
    list: (projectId: string, query: FileListQuery) =>
      readPage(parts, projectId, { limit: limits.pageDefault, ...query }),
    async request(
      { projectId, publicKey: author }: Pick<ProjectCaller, 'projectId' | 'publicKey'>,
      { contentLength, overwrite = false, ...body }: UploadBody,
    ) {
      const wanted = { ...body, bytes: contentLength, overwrite, author };
      return viewUpload(addresses, await requestUpload(parts, projectId, wanted));
    },
    async confirm(projectId: string, { fileId, ok }: { fileId: string; ok: boolean }) {
      if (ok) {
        const { file, path } = await confirmUpload(parts, projectId, fileId);
        return viewSettled(path, file, true);
      }
      const given = await discardUpload(parts, projectId, fileId);
      return viewSettled(given.path ?? '', given, false);
    },
    async download(projectId: string, given: string) {
      const path = readFilePath('path', given);
      const file = await getFile(db, projectId, path);
      return viewDownload(addresses, joinFilePath(path.names), file);
    },
    async remove(projectId: string, given: string) {
      const path = readFilePath('path', given);
      const deleted = await db.transaction(async (tx) => {
        await lockFiles(tx, projectId);
        return removeAt(tx, projectId, path);
      });
      return { deleted };
    },
    async move(projectId: string, { fromPath, toPath }: { fromPath: string; toPath: string }) {
      const ends = {
        from: readFilePath('fromPath', fromPath),
        to: readFilePath('toPath', toPath),
      };
      const moved = await db.transaction(async (tx) => {
        await lockFiles(tx, projectId);
        return moveAt(tx, projectId, ends);
      });
      return { moved };
    },
    makeFolder: (projectId: string, path: string) => makeFolder(parts, projectId, path),
  };
};

type Drive = ReturnType<typeof drive>;

/**
 * Operations on the connectors of a project's files, shared by the routes of the project and those below its worlds.
 */
const connectors = (parts: Parts) => ({
  async list(projectId: string, query: PageQuery) {
    const [rows, total] = await Promise.all([
      listFileConnectors(parts.db, projectId, toRange(query)),
      countFileConnectors(parts.db, projectId),
    ]);
    return { data: rows.map((row) => viewConnector(parts, row)), meta: toMeta(query, total) };
  },
  make: async (projectId: string, body: FileConnectorBody) =>
    viewConnector(parts, await makeConnector(parts, projectId, body)),
  sync: (projectId: string, id: string) => syncConnector(parts, projectId, id),
});

const connectorEndpoints = (parts: Parts): Endpoint[] => {
  const { list, make, sync } = connectors(parts);
  const { db } = parts;
  return [
    endpoint(api.listFileConnectors, async ({ query }, { caller: { projectId } }) =>
      respond(200, await list(projectId, query)),
    ),
    endpoint(api.createFileConnector, async ({ body }, { caller: { projectId } }) =>
      respond(201, await make(projectId, body)),
    ),
    endpoint(api.syncFileConnector, async ({ body }, { caller: { projectId } }) =>
      respond(200, await sync(projectId, body.connectorId)),
    ),
    endpoint(api.changeFileConnector, async ({ params, body }, { caller: { projectId } }) => {
      const row = await updateConnector(db, { projectId, id: params.connectorId }, body);
      return respond(200, viewConnector(parts, row));
    }),
    endpoint(api.deleteFileConnector, async ({ params }, { caller: { projectId } }) => {
      const { id } = await getConnector(db, projectId, params.connectorId);
      await db.transaction((tx) => removeFileConnector(tx, projectId, id));
      return respond(200, { deleted: true });
    }),
    endpoint(
      api.listFileConnectorsOfEnvironment,
      async ({ params, query }, { caller: { projectId } }) => {
        await getWorld(parts, projectId, params.containerId);
        return respond(200, await list(projectId, query));
      },
    ),
    endpoint(
      api.createFileConnectorOfEnvironment,
      async ({ params, body }, { caller: { projectId } }) => {
        await getWorld(parts, projectId, params.containerId);
        return respond(201, await make(projectId, body));
      },
    ),
    endpoint(
      api.syncFileConnectorOfEnvironment,
      async ({ params, body }, { caller: { projectId } }) => {
        await getWorld(parts, projectId, params.containerId);
        return respond(200, await sync(projectId, body.connectorId));
      },
    ),
  ];
};

const ownEndpoints = (files: Drive): Endpoint[] => [
  endpoint(api.listFiles, async ({ query }, { caller: { projectId } }) =>
    respond(200, await files.list(projectId, query)),
  ),
  endpoint(api.requestFileUpload, async ({ body }, { caller }) =>
    respond(201, await files.request(caller, body)),
  ),
  endpoint(api.confirmFileUpload, async ({ body }, { caller: { projectId } }) =>
    respond(200, await files.confirm(projectId, body)),
  ),
  endpoint(api.downloadFile, async ({ query }, { caller: { projectId } }) =>
    respond(200, await files.download(projectId, query.path)),
  ),
  endpoint(api.deleteFile, async ({ query }, { caller: { projectId } }) =>
    respond(200, await files.remove(projectId, query.path)),
  ),
  endpoint(api.moveFile, async ({ body }, { caller: { projectId } }) =>
    respond(200, await files.move(projectId, body)),
  ),
  endpoint(api.createFolder, async ({ body }, { caller: { projectId } }) => {
    const { view, isNew } = await files.makeFolder(projectId, body.path);
    return isNew ? respond(201, view) : respond(200, view);
  }),
];

/**
 * Builds the file endpoints below a world's path. They behave like the file endpoints of the project, and serve clients
 * that know only one world of the project.
 */
const worldEndpoints = (parts: Parts, files: Drive): Endpoint[] => [
  endpoint(api.listFilesOfEnvironment, async ({ params, query }, { caller: { projectId } }) => {
    await getWorld(parts, projectId, params.containerId);
    return respond(200, await files.list(projectId, query));
  }),
  endpoint(api.requestFileUploadOfEnvironment, async ({ params, body }, { caller }) => {
    await getWorld(parts, caller.projectId, params.containerId);
    return respond(201, await files.request(caller, body));
  }),
  endpoint(
    api.confirmFileUploadOfEnvironment,
    async ({ params, body }, { caller: { projectId } }) => {
      await getWorld(parts, projectId, params.containerId);
      return respond(200, await files.confirm(projectId, body));
    },
  ),
  endpoint(api.downloadFileOfEnvironment, async ({ params, query }, { caller: { projectId } }) => {
    await getWorld(parts, projectId, params.containerId);
    return respond(200, await files.download(projectId, query.path));
  }),
  endpoint(api.deleteFileOfEnvironment, async ({ params, query }, { caller: { projectId } }) => {
    await getWorld(parts, projectId, params.containerId);
    return respond(200, await files.remove(projectId, query.path));
  }),
  endpoint(api.moveFileOfEnvironment, async ({ params, body }, { caller: { projectId } }) => {
    await getWorld(parts, projectId, params.containerId);
    return respond(200, await files.move(projectId, body));
  }),
  endpoint(api.createFolderOfEnvironment, async ({ params, body }, { caller: { projectId } }) => {
    await getWorld(parts, projectId, params.containerId);
    const { view, isNew } = await files.makeFolder(projectId, body.path);
    return isNew ? respond(201, view) : respond(200, view);
  }),
];

export const fileEndpoints = (parts: Parts): Endpoint[] => {
  const files = drive(parts);
  return [...ownEndpoints(files), ...worldEndpoints(parts, files), ...connectorEndpoints(parts)];
};
