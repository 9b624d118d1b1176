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
  summary: 'Ask for an address to send a file to; it is there once it is confirmed',
  method: 'POST',
  path: '/files',
  access: 'write',
  tools: [{ name: 'request_file_upload' }],
  body: UploadBody,
  answers: { 201: UploadView },
  refusals: {
    409: 'Something is at the path, or a file where a folder is needed.',
    429: 'The project has no room for it: see `quota`.',
  },
});

export const confirmFileUpload = operation({
  id: 'confirmFileUpload',
  summary: 'Say that a file was sent, whose size and digest are held to, or give it up',
  method: 'POST',
  path: '/files/confirm',
  access: 'write',
  tools: [{ name: 'confirm_file_upload' }],
  body: ConfirmBody,
  answers: { 200: ConfirmedView },
  refusals: { 409: 'Nothing was sent yet, or something came to be at the path meanwhile.' },
});

export const downloadFile = getOperation({
  id: 'downloadFile',
  summary: 'A file, with an address to read it at',
  path: '/files/download',
  access: 'read',
  tools: [{ name: 'get_file' }],
  query: PathQuery,
  answer: DownloadView,
});

export const deleteFile = deleteOperation({
  id: 'deleteFile',
  summary: 'Delete a file, or a folder with all that is in it',
  path: '/files',
  access: 'write',
  tools: [{ name: 'delete_file' }],
  query: PathQuery,
  answer: Type.Object({ deleted: Type.Integer({ description: 'files' }) }),
});

export const moveFile = operation({
  id: 'moveFile',
  summary: 'Move a file or a folder; its bytes stay where they are',
  method: 'POST',
  path: '/files/move',
  access: 'write',
  tools: [{ name: 'move_file' }],
  body: MoveBody,
  answers: {
    200: Type.Object({ moved: Type.Integer({ description: 'files that have another path' }) }),
  },
  refusals: { 409: 'Something is at the path that it would have.' },
});

export const createFolder = operation({
  id: 'createFolder',
  summary: 'Make a folder; one that is there stays as it is',
  method: 'POST',
  path: '/files/folders',
  access: 'write',
  tools: [{ name: 'create_folder' }],
  body: FolderBody,
  answers: { 200: FolderView, 201: FolderView },
  refusals: { 409: 'There is a file at the path, or on the way to it.' },
});

const containerId = Type.String({ maxLength: 64, description: 'the slug of a world, or its id' });
const ContainerParams = Type.Object({ containerId });

type OfEnvironment<Shape extends OperationShape> = Omit<
  Shape,
  'id' | 'path' | 'params' | 'tools'
> & {
  id: `${Shape['id']}OfEnvironment`;
  path: `/environments/{containerId}${Shape['path']}`;
  params: typeof ContainerParams;
};

/** Derives the operation below a world of the project. */
export const ofEnvironment = <const Shape extends OperationShape>({
  tools: _,
  ...shape
}: Shape): OfEnvironment<Shape> =>
  ({
    ...shape,
    id: `${shape.id}OfEnvironment`,
    path: `/environments/{containerId}${shape.path}`,
    summary: `${shape.summary}; the files are the project's`,
    params: ContainerParams,
  }) as unknown as OfEnvironment<Shape>;

export const listFilesOfEnvironment = ofEnvironment(listFiles);
export const requestFileUploadOfEnvironment = ofEnvironment(requestFileUpload);
export const confirmFileUploadOfEnvironment = ofEnvironment(confirmFileUpload);
export const downloadFileOfEnvironment = ofEnvironment(downloadFile);
export const deleteFileOfEnvironment = ofEnvironment(deleteFile);
export const moveFileOfEnvironment = ofEnvironment(moveFile);
export const createFolderOfEnvironment = ofEnvironment(createFolder);
