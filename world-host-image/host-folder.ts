/**
 * Folder of the host's own files, for code that starts one of them as a program. It is the folder of this file: a
 * bundle of the host lies in the same folder, so the value is valid there, too.
 */
export const hostFolder = import.meta.dirname;
