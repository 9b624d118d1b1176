/**
 * Folder of the host's own files, for code that starts a program among them. It is derived from this file, because a
 * bundle of the host lies in the same folder.
 */
export const hostFolder = import.meta.dirname;
