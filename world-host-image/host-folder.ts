/**
 * Where the host's own files lie, for whoever starts a program among them. It is told by this file, as a
 * bundle of the host lies in the same folder.
 */
export const hostFolder = import.meta.dirname;
