/**
 * Operations on project files. The same files are also served below each world of the project, for clients that know
 * only that path: `ofEnvironment` derives those operations from these.
 */

import { deleteOperation, getOperation, type OperationShape, operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import {
  ConfirmBody,
  ConfirmedView,
  DownloadView,
  FileList,
  FileListQuery,
  FolderBody,
  FolderView,
  MoveBody,
  PathQuery,
  UploadBody,
  UploadView,
} from './file.ts';

export const listFiles = getOperation({
  id: 'listFiles',
  summary: 'The folders and files in a folder of the project, by name',
  path: '/files',
  access: 'read',
  tools: [{ name: 'list_files' }],
  query: FileListQuery,
  answer: FileList,
});

export const requestFileUpload = operation({
  id: 'requestFileUpload',
  summary:
    'Request an address for the upload of a file; the file exists once the upload is confirmed',
  method: 'POST',
  path: '/files',
  access: 'write',
  tools: [{ name: 'request_file_upload' }],
  body: UploadBody,
  answers: { 201: UploadView },
  refusals: {
    409: 'A file or folder is already at the path, or a parent of the path is a file.',
    429: 'A quota of the project is used up: `quota` names it.',
  },
});

export const confirmFileUpload = operation({
  id: 'confirmFileUpload',
  summary: 'Confirm an upload, whose size and digest are then checked, or cancel it',
  method: 'POST',
  path: '/files/confirm',
  access: 'write',
  tools: [{ name: 'confirm_file_upload' }],
  body: ConfirmBody,
  answers: { 200: ConfirmedView },
  refusals: { 409: 'Nothing was uploaded yet, or another file was created at the path meanwhile.' },
});

export const downloadFile = getOperation({
  id: 'downloadFile',
  summary: 'A file, with an address for reading it',
  path: '/files/download',
  access: 'read',
  tools: [{ name: 'get_file' }],
  query: PathQuery,
  answer: DownloadView,
});

export const deleteFile = deleteOperation({
  id: 'deleteFile',
  summary: 'Delete a file, or a folder with its contents',
  path: '/files',
  access: 'write',
  tools: [{ name: 'delete_file' }],
  query: PathQuery,
  answer: Type.Object({ deleted: Type.Integer({ description: 'files' }) }),
});

export const moveFile = operation({
  id: 'moveFile',
  summary: 'Move a file or a folder; the bytes are not copied',
  method: 'POST',
  path: '/files/move',
  access: 'write',
  tools: [{ name: 'move_file' }],
  body: MoveBody,
  answers: {
    200: Type.Object({ moved: Type.Integer({ description: 'number of files that moved' }) }),
  },
  refusals: { 409: 'A file or folder is already at the target path.' },
});

export const createFolder = operation({
  id: 'createFolder',
  summary: 'Create a folder; nothing changes if the folder exists already',
  method: 'POST',
  path: '/files/folders',
  access: 'write',
  tools: [{ name: 'create_folder' }],
  body: FolderBody,
  answers: { 200: FolderView, 201: FolderView },
  refusals: { 409: 'The path, or a parent of it, is a file.' },
});

const containerId = Type.String({
  maxLength: 64,
  description: 'the slug of a world, or its id',
});
const ContainerParams = Type.Object({ containerId });

type OfEnvironment<Shape extends OperationShape> = Omit<
  Shape,
  'id' | 'path' | 'params' | 'tools'
> & {
  id: `${Shape['id']}OfEnvironment`;
  path: `/environments/{containerId}${Shape['path']}`;
  params: typeof ContainerParams;
};

/** Derives the operation that serves the same files below a world of the project. */
export const ofEnvironment = <const Shape extends OperationShape>({
  tools: _,
  ...shape
}: Shape): OfEnvironment<Shape> =>
  ({
    ...shape,
    id: `${shape.id}OfEnvironment`,
    path: `/environments/{containerId}${shape.path}`,
    summary: `${shape.summary}; the files belong to the world's project`,
    params: ContainerParams,
  }) as unknown as OfEnvironment<Shape>;

export const listFilesOfEnvironment = ofEnvironment(listFiles);
export const requestFileUploadOfEnvironment = ofEnvironment(requestFileUpload);
export const confirmFileUploadOfEnvironment = ofEnvironment(confirmFileUpload);
export const downloadFileOfEnvironment = ofEnvironment(downloadFile);
export const deleteFileOfEnvironment = ofEnvironment(deleteFile);
export const moveFileOfEnvironment = ofEnvironment(moveFile);
export const createFolderOfEnvironment = ofEnvironment(createFolder);
